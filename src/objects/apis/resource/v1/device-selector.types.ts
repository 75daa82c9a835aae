import {
  type Infer,
  pointer,
  rawExtension,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';

export const celDeviceSelector = struct('resource.v1.CELDeviceSelector', {
  expression: required(1, string),
});
export type CELDeviceSelector = Infer<typeof celDeviceSelector>;

export const deviceSelector = struct('resource.v1.DeviceSelector', {
  cel: pointer(1, celDeviceSelector),
});
export type DeviceSelector = Infer<typeof deviceSelector>;

export const opaqueDeviceConfiguration = struct('resource.v1.OpaqueDeviceConfiguration', {
  driver: required(1, string),
  parameters: required(2, rawExtension),
});
export type OpaqueDeviceConfiguration = Infer<typeof opaqueDeviceConfiguration>;

export const deviceConfiguration = struct('resource.v1.DeviceConfiguration', {
  opaque: pointer(1, opaqueDeviceConfiguration),
});
export type DeviceConfiguration = Infer<typeof deviceConfiguration>;
