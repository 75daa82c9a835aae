import {
  always,
  bool,
  enumOf,
  type Infer,
  inline,
  keyedBy,
  kind,
  list,
  map,
  mergedBy,
  optional,
  pointer,
  quantity,
  rawExtension,
  required,
  string,
  struct,
  time,
} from '../../../../base/machinery/schema/index.js';
import { nodeSelector } from '../../core/v1/node-selector.types.js';
import { condition } from '../../meta/v1/condition.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { deviceClaim } from './device-claim.types.js';
import { deviceConfiguration } from './device-selector.types.js';
import { deviceToleration } from './device-taint.types.js';

export const resourceClaimConsumerReference = struct('resource.v1.ResourceClaimConsumerReference', {
  apiGroup: optional(1, string),
  resource: required(3, string),
  name: required(4, string),
  uid: required(5, string),
});
export type ResourceClaimConsumerReference = Infer<typeof resourceClaimConsumerReference>;

export const networkDeviceData = struct('resource.v1.NetworkDeviceData', {
  interfaceName: optional(1, string),
  ips: optional(2, list(string), { listType: 'atomic' }),
  hardwareAddress: optional(3, string),
});
export type NetworkDeviceData = Infer<typeof networkDeviceData>;

export const allocatedDeviceStatus = struct('resource.v1.AllocatedDeviceStatus', {
  driver: required(1, string),
  pool: required(2, string),
  device: required(3, string),
  shareID: pointer(7, string),
  conditions: always(4, list(condition), keyedBy('type')),
  data: pointer(5, rawExtension),
  networkData: pointer(6, networkDeviceData),
});
export type AllocatedDeviceStatus = Infer<typeof allocatedDeviceStatus>;

export const deviceRequestAllocationResult = struct('resource.v1.DeviceRequestAllocationResult', {
  request: required(1, string),
  driver: required(2, string),
  pool: required(3, string),
  device: required(4, string),
  adminAccess: pointer(5, bool),
  tolerations: optional(6, list(deviceToleration), { listType: 'atomic' }),
  bindingConditions: optional(7, list(string), { listType: 'atomic' }),
  bindingFailureConditions: optional(8, list(string), { listType: 'atomic' }),
  shareID: pointer(9, string),
  consumedCapacity: optional(10, map(quantity)),
  skipNodeOperations: optional(11, list(enumOf('*', 'NodePrepareResources', 'NodeUnprepareResources')), {
    listType: 'set',
  }),
});
export type DeviceRequestAllocationResult = Infer<typeof deviceRequestAllocationResult>;

export const deviceAllocationConfiguration = struct('resource.v1.DeviceAllocationConfiguration', {
  source: required(1, enumOf('FromClaim', 'FromClass')),
  requests: optional(2, list(string), { listType: 'atomic' }),
  deviceConfiguration: inline(3, deviceConfiguration),
});
export type DeviceAllocationConfiguration = Infer<typeof deviceAllocationConfiguration>;

export const deviceAllocationResult = struct('resource.v1.DeviceAllocationResult', {
  results: optional(1, list(deviceRequestAllocationResult), { listType: 'atomic' }),
  config: optional(2, list(deviceAllocationConfiguration), { listType: 'atomic' }),
});
export type DeviceAllocationResult = Infer<typeof deviceAllocationResult>;

export const allocationResult = struct('resource.v1.AllocationResult', {
  devices: always(1, deviceAllocationResult),
  nodeSelector: pointer(3, nodeSelector),
  allocationTimestamp: pointer(5, time),
});
export type AllocationResult = Infer<typeof allocationResult>;

export const resourceClaimSpec = struct('resource.v1.ResourceClaimSpec', {
  devices: always(1, deviceClaim),
});
export type ResourceClaimSpec = Infer<typeof resourceClaimSpec>;

export const resourceClaimStatus = struct('resource.v1.ResourceClaimStatus', {
  allocation: pointer(1, allocationResult),
  reservedFor: optional(2, list(resourceClaimConsumerReference), mergedBy('uid')),
  devices: optional(4, list(allocatedDeviceStatus), keyedBy('driver', 'device', 'pool', 'shareID')),
});
export type ResourceClaimStatus = Infer<typeof resourceClaimStatus>;

export const resourceClaim = kind(
  { group: 'resource', version: 'v1', kind: 'ResourceClaim', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, resourceClaimSpec),
    status: always(3, resourceClaimStatus),
  },
  { doc: 'Asks for devices that pods then use.' },
);
export type ResourceClaim = Infer<typeof resourceClaim>;

export const resourceClaimList = listKind(resourceClaim);
export type ResourceClaimList = Infer<typeof resourceClaimList>;

export const resourceClaimTemplateSpec = struct('resource.v1.ResourceClaimTemplateSpec', {
  metadata: always(1, objectMeta),
  spec: always(2, resourceClaimSpec),
});
export type ResourceClaimTemplateSpec = Infer<typeof resourceClaimTemplateSpec>;

export const resourceClaimTemplate = kind(
  { group: 'resource', version: 'v1', kind: 'ResourceClaimTemplate', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, resourceClaimTemplateSpec),
  },
  { doc: 'What the claims made for single pods look like.' },
);
export type ResourceClaimTemplate = Infer<typeof resourceClaimTemplate>;

export const resourceClaimTemplateList = listKind(resourceClaimTemplate);
export type ResourceClaimTemplateList = Infer<typeof resourceClaimTemplateList>;
