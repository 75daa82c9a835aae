import {
  enumOf,
  type Infer,
  int64,
  optional,
  required,
  string,
  struct,
  time,
} from '../../../../base/machinery/schema/index.js';

export const conditionStatus = enumOf('False', 'True', 'Unknown');
export type ConditionStatus = Infer<typeof conditionStatus>;

export const condition = struct(
  'meta.v1.Condition',
  {
    type: required(1, string, { doc: 'Name of the aspect.' }),
    status: required(2, conditionStatus, { doc: 'True, False or Unknown.' }),
    observedGeneration: optional(3, int64, { doc: 'Generation of the object that this status is about.' }),
    lastTransitionTime: required(4, time, { doc: 'When the status last changed.' }),
    reason: required(5, string, { doc: 'Short word for programs: why the status is so.' }),
    message: required(6, string, { doc: 'Text for people: why the status is so.' }),
  },
  { doc: "One aspect of an object's state." },
);
export type Condition = Infer<typeof condition>;
