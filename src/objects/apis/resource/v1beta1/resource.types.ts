import {
  always,
  bool,
  enumOf,
  type Infer,
  int64,
  list,
  map,
  optional,
  pointer,
  required,
  type StructType,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { typesInVersion } from '../../../../base/machinery/schema/types-in-version.js';
import { nodeSelector } from '../../core/v1/node-selector.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import {
  counterSet,
  deviceAttribute,
  deviceCapacity,
  deviceCounterConsumption,
  nodeAllocatableResource,
} from '../v1/device.types.js';
import { capacityRequirements, deviceDerivedAttribute } from '../v1/device-claim.types.js';
import { deviceClass as deviceClassV1 } from '../v1/device-class.types.js';
import { deviceSelector } from '../v1/device-selector.types.js';
import { deviceTaint, deviceToleration } from '../v1/device-taint.types.js';
import {
  resourceClaimTemplate as resourceClaimTemplateV1,
  resourceClaim as resourceClaimV1,
} from '../v1/resource-claim.types.js';
import { resourcePool, resourceSlice as resourceSliceV1 } from '../v1/resource-slice.types.js';

/** Types that differ from those of v1: requests and devices. */
const own: Record<string, StructType> = {};
const inV1beta1 = typesInVersion('v1beta1', own);

const deviceSubRequest = struct('resource.v1beta1.DeviceSubRequest', {
  name: required(1, string),
  deviceClassName: required(2, string),
  selectors: optional(3, list(inV1beta1(deviceSelector)), { listType: 'atomic' }),
  allocationMode: optional(4, enumOf('All', 'ExactCount')),
  count: optional(5, int64),
  tolerations: optional(7, list(inV1beta1(deviceToleration)), { listType: 'atomic' }),
  capacity: pointer(8, inV1beta1(capacityRequirements)),
  derivedAttributes: optional(9, list(inV1beta1(deviceDerivedAttribute)), { listType: 'atomic' }),
});

export const deviceRequest = struct('resource.v1beta1.DeviceRequest', {
  name: required(1, string),
  deviceClassName: always(2, string, { doc: 'The class of the devices, unless there are choices.' }),
  selectors: optional(3, list(inV1beta1(deviceSelector)), {
    listType: 'atomic',
    doc: 'Further conditions that each of them meets.',
  }),
  allocationMode: optional(4, enumOf('All', 'ExactCount'), {
    doc: 'ExactCount (default), or All for every device that matches.',
  }),
  count: optional(5, int64, { doc: 'How many, with ExactCount; 1 if not given.' }),
  adminAccess: pointer(6, bool, { doc: 'Whether devices that others use may be had, to look after them.' }),
  firstAvailable: optional(7, list(deviceSubRequest), { listType: 'atomic' }),
  tolerations: optional(8, list(inV1beta1(deviceToleration)), {
    listType: 'atomic',
    doc: 'Taints of devices that are accepted.',
  }),
  capacity: pointer(9, inV1beta1(capacityRequirements), { doc: 'How much of each device is wanted.' }),
  derivedAttributes: optional(10, list(inV1beta1(deviceDerivedAttribute)), {
    listType: 'atomic',
    doc: 'Attributes that expressions compute.',
  }),
});
export type DeviceRequest = Infer<typeof deviceRequest>;

const basicDevice = struct('resource.v1beta1.BasicDevice', {
  attributes: optional(1, map(inV1beta1(deviceAttribute))),
  capacity: optional(2, map(inV1beta1(deviceCapacity))),
  consumesCounters: optional(3, list(inV1beta1(deviceCounterConsumption)), { listType: 'atomic' }),
  nodeName: pointer(4, string),
  nodeSelector: pointer(5, nodeSelector),
  allNodes: pointer(6, bool),
  taints: optional(7, list(inV1beta1(deviceTaint)), { listType: 'atomic' }),
  bindsToNode: pointer(8, bool),
  bindingConditions: optional(9, list(string), { listType: 'atomic' }),
  bindingFailureConditions: optional(10, list(string), { listType: 'atomic' }),
  allowMultipleAllocations: pointer(11, bool),
  nodeAllocatableResources: optional(14, map(inV1beta1(nodeAllocatableResource))),
});

export const device = struct('resource.v1beta1.Device', {
  name: required(1, string),
  basic: pointer(2, basicDevice, { doc: 'Its properties.' }),
});
export type Device = Infer<typeof device>;

const resourceSliceSpec = struct('resource.v1beta1.ResourceSliceSpec', {
  driver: required(1, string),
  pool: required(2, inV1beta1(resourcePool)),
  nodeName: optional(3, string),
  nodeSelector: pointer(4, nodeSelector),
  allNodes: optional(5, bool),
  devices: optional(6, list(device), { listType: 'atomic' }),
  perDeviceNodeSelection: pointer(7, bool),
  sharedCounters: optional(8, list(inV1beta1(counterSet)), { listType: 'atomic' }),
  partitionTypeAttribute: pointer(9, string),
  skipNodeOperations: optional(10, list(enumOf('*', 'NodePrepareResources', 'NodeUnprepareResources')), {
    listType: 'set',
  }),
});

own.DeviceSubRequest = deviceSubRequest;
own.DeviceRequest = deviceRequest;
own.Device = device;
own.ResourceSliceSpec = resourceSliceSpec;

export const deviceClass = inV1beta1(deviceClassV1);
export const resourceClaim = inV1beta1(resourceClaimV1);
export const resourceClaimTemplate = inV1beta1(resourceClaimTemplateV1);
export const resourceSlice = inV1beta1(resourceSliceV1);

export const deviceClassList = listKind(deviceClass);
export const resourceClaimList = listKind(resourceClaim);
export const resourceClaimTemplateList = listKind(resourceClaimTemplate);
export const resourceSliceList = listKind(resourceSlice);
