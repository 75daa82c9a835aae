import {
  always,
  bool,
  type Infer,
  int64,
  list,
  map,
  optional,
  pointer,
  quantity,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { nodeSelector } from '../../core/v1/node-selector.types.js';
import { deviceTaint } from './device-taint.types.js';

export const deviceAttribute = struct('resource.v1.DeviceAttribute', {
  int: pointer(2, int64),
  bool: pointer(3, bool),
  string: pointer(4, string),
  version: pointer(5, string),
  ints: optional(6, list(int64), { listType: 'atomic' }),
  bools: optional(7, list(bool), { listType: 'atomic' }),
  strings: optional(8, list(string), { listType: 'atomic' }),
  versions: optional(9, list(string), { listType: 'atomic' }),
});
export type DeviceAttribute = Infer<typeof deviceAttribute>;

export const capacityRequestPolicyRange = struct('resource.v1.CapacityRequestPolicyRange', {
  min: pointer(1, quantity),
  max: pointer(2, quantity),
  step: pointer(3, quantity),
});
export type CapacityRequestPolicyRange = Infer<typeof capacityRequestPolicyRange>;

export const capacityRequestPolicy = struct('resource.v1.CapacityRequestPolicy', {
  default: always(1, quantity, { nullable: true }),
  validValues: optional(3, list(quantity), { listType: 'atomic' }),
  validRange: pointer(4, capacityRequestPolicyRange),
});
export type CapacityRequestPolicy = Infer<typeof capacityRequestPolicy>;

export const deviceCapacity = struct('resource.v1.DeviceCapacity', {
  value: required(1, quantity),
  requestPolicy: pointer(2, capacityRequestPolicy),
});
export type DeviceCapacity = Infer<typeof deviceCapacity>;

export const counter = struct('resource.v1.Counter', {
  value: required(1, quantity),
});
export type Counter = Infer<typeof counter>;

export const counterSet = struct('resource.v1.CounterSet', {
  name: required(1, string),
  counters: optional(2, map(counter)),
});
export type CounterSet = Infer<typeof counterSet>;

export const deviceCounterConsumption = struct('resource.v1.DeviceCounterConsumption', {
  counterSet: required(1, string),
  counters: optional(2, map(counter)),
  compatibilityGroups: optional(3, list(string), { listType: 'atomic' }),
});
export type DeviceCounterConsumption = Infer<typeof deviceCounterConsumption>;

export const nodeAllocatableMapping = struct('resource.v1.NodeAllocatableMapping', {
  capacityKey: pointer(1, string),
  capacityMultiplier: pointer(2, quantity),
  deviceMultiplier: pointer(3, quantity),
});
export type NodeAllocatableMapping = Infer<typeof nodeAllocatableMapping>;

export const nodeAllocatableOverhead = struct('resource.v1.NodeAllocatableOverhead', {
  perPod: pointer(1, quantity),
  perContainer: pointer(2, quantity),
});
export type NodeAllocatableOverhead = Infer<typeof nodeAllocatableOverhead>;

export const nodeAllocatableResource = struct('resource.v1.NodeAllocatableResource', {
  mapping: pointer(3, nodeAllocatableMapping),
  overhead: pointer(4, nodeAllocatableOverhead),
});
export type NodeAllocatableResource = Infer<typeof nodeAllocatableResource>;

export const device = struct('resource.v1.Device', {
  name: required(1, string),
  attributes: optional(2, map(deviceAttribute)),
  capacity: optional(3, map(deviceCapacity)),
  consumesCounters: optional(4, list(deviceCounterConsumption), { listType: 'atomic' }),
  nodeName: pointer(5, string),
  nodeSelector: pointer(6, nodeSelector),
  allNodes: pointer(7, bool),
  taints: optional(8, list(deviceTaint), { listType: 'atomic' }),
  bindsToNode: pointer(9, bool),
  bindingConditions: optional(10, list(string), { listType: 'atomic' }),
  bindingFailureConditions: optional(11, list(string), { listType: 'atomic' }),
  allowMultipleAllocations: pointer(12, bool),
  nodeAllocatableResources: optional(14, map(nodeAllocatableResource)),
});
export type Device = Infer<typeof device>;
