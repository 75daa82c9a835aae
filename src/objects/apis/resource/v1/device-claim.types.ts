import {
  always,
  bool,
  enumOf,
  type Infer,
  inline,
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
import { deviceConfiguration, deviceSelector } from './device-selector.types.js';
import { deviceToleration } from './device-taint.types.js';

export const capacityRequirements = struct('resource.v1.CapacityRequirements', {
  requests: optional(1, map(quantity)),
});
export type CapacityRequirements = Infer<typeof capacityRequirements>;

export const deviceDerivedAttribute = struct('resource.v1.DeviceDerivedAttribute', {
  name: required(1, string),
  expression: required(2, string),
});
export type DeviceDerivedAttribute = Infer<typeof deviceDerivedAttribute>;

export const exactDeviceRequest = struct('resource.v1.ExactDeviceRequest', {
  deviceClassName: required(1, string),
  selectors: optional(2, list(deviceSelector), { listType: 'atomic' }),
  allocationMode: optional(3, enumOf('All', 'ExactCount')),
  count: optional(4, int64),
  adminAccess: pointer(5, bool),
  tolerations: optional(6, list(deviceToleration), { listType: 'atomic' }),
  capacity: pointer(7, capacityRequirements),
  derivedAttributes: optional(8, list(deviceDerivedAttribute), { listType: 'atomic' }),
});
export type ExactDeviceRequest = Infer<typeof exactDeviceRequest>;

export const deviceSubRequest = struct('resource.v1.DeviceSubRequest', {
  name: required(1, string),
  deviceClassName: required(2, string),
  selectors: optional(3, list(deviceSelector), { listType: 'atomic' }),
  allocationMode: optional(4, enumOf('All', 'ExactCount')),
  count: optional(5, int64),
  tolerations: optional(6, list(deviceToleration), { listType: 'atomic' }),
  capacity: pointer(7, capacityRequirements),
  derivedAttributes: optional(8, list(deviceDerivedAttribute), { listType: 'atomic' }),
});
export type DeviceSubRequest = Infer<typeof deviceSubRequest>;

export const deviceRequest = struct('resource.v1.DeviceRequest', {
  name: required(1, string),
  exactly: pointer(2, exactDeviceRequest),
  firstAvailable: optional(3, list(deviceSubRequest), { listType: 'atomic' }),
});
export type DeviceRequest = Infer<typeof deviceRequest>;

export const deviceConstraint = struct('resource.v1.DeviceConstraint', {
  requests: optional(1, list(string), { listType: 'atomic' }),
  matchAttribute: pointer(2, string),
  distinctAttribute: pointer(3, string),
});
export type DeviceConstraint = Infer<typeof deviceConstraint>;

export const deviceClaimConfiguration = struct('resource.v1.DeviceClaimConfiguration', {
  requests: optional(1, list(string), { listType: 'atomic' }),
  deviceConfiguration: inline(2, deviceConfiguration),
});
export type DeviceClaimConfiguration = Infer<typeof deviceClaimConfiguration>;

export const deviceClaim = struct('resource.v1.DeviceClaim', {
  requests: always(1, list(deviceRequest), { listType: 'atomic' }),
  constraints: optional(2, list(deviceConstraint), { listType: 'atomic' }),
  config: optional(3, list(deviceClaimConfiguration), { listType: 'atomic' }),
});
export type DeviceClaim = Infer<typeof deviceClaim>;
