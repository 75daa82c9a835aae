import { enumOf, type Infer } from '../../../../base/machinery/schema/index.js';

export const conditionStatus = enumOf('False', 'True', 'Unknown');
export type ConditionStatus = Infer<typeof conditionStatus>;

export const podConditionType = enumOf(
  'AllContainersRestarting',
  'ContainersReady',
  'DisruptionTarget',
  'Initialized',
  'PodReadyToStartContainers',
  'PodResizeInProgress',
  'PodResizePending',
  'PodScheduled',
  'Ready',
);
export type PodConditionType = Infer<typeof podConditionType>;
