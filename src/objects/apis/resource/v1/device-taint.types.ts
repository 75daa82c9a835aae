import {
  enumOf,
  type Infer,
  int64,
  optional,
  pointer,
  required,
  string,
  struct,
  time,
} from '../../../../base/machinery/schema/index.js';

export const deviceTaint = struct('resource.v1.DeviceTaint', {
  key: required(1, string),
  value: optional(2, string),
  effect: required(3, enumOf('NoExecute', 'NoSchedule', 'None')),
  timeAdded: pointer(4, time),
});
export type DeviceTaint = Infer<typeof deviceTaint>;

export const deviceToleration = struct('resource.v1.DeviceToleration', {
  key: optional(1, string),
  operator: optional(2, enumOf('Equal', 'Exists'), { default: 'Equal' }),
  value: optional(3, string),
  effect: optional(4, enumOf('NoExecute', 'NoSchedule', 'None')),
  tolerationSeconds: pointer(5, int64),
});
export type DeviceToleration = Infer<typeof deviceToleration>;
