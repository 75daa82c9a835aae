import {
  enumOf,
  type Infer,
  int64,
  optional,
  required,
  string,
  struct,
  time,
} from '../../../machinery/schema/index.js';

export const conditionStatus = enumOf('False', 'True', 'Unknown');
export type ConditionStatus = Infer<typeof conditionStatus>;

export const condition = struct('meta.v1.Condition', {
  type: required(1, string),
  status: required(2, conditionStatus),
  observedGeneration: optional(3, int64),
  lastTransitionTime: required(4, time),
  reason: required(5, string),
  message: required(6, string),
});
export type Condition = Infer<typeof condition>;
