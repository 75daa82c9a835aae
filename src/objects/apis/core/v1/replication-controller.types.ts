import {
  always,
  enumOf,
  type Infer,
  int32,
  int64,
  kind,
  list,
  map,
  mergedBy,
  optional,
  pointer,
  required,
  string,
  struct,
  time,
} from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { conditionStatus } from './condition-status.types.js';
import { podTemplateSpec } from './pod-spec.types.js';

export const replicationControllerSpec = struct('core.v1.ReplicationControllerSpec', {
  replicas: pointer(1, int32, { default: 1, doc: 'Number of pods.' }),
  minReadySeconds: optional(4, int32, {
    default: 0,
    doc: 'How long a new pod must be ready before it counts as available, in seconds.',
  }),
  selector: optional(2, map(string), { mapType: 'atomic', doc: 'Labels of the pods that belong here.' }),
  template: pointer(3, podTemplateSpec, { doc: 'Description of the pods.' }),
});
export type ReplicationControllerSpec = Infer<typeof replicationControllerSpec>;

export const replicationControllerConditionType = enumOf('ReplicaFailure');
export type ReplicationControllerConditionType = Infer<typeof replicationControllerConditionType>;

export const replicationControllerCondition = struct(
  'core.v1.ReplicationControllerCondition',
  {
    type: required(1, replicationControllerConditionType, { doc: 'Name of the aspect.' }),
    status: required(2, conditionStatus, { doc: 'True, False or Unknown.' }),
    lastTransitionTime: always(3, time, { doc: 'When the status last changed.' }),
    reason: optional(4, string, { doc: 'Short word for programs: why the status is so.' }),
    message: optional(5, string, { doc: 'Text for people: why the status is so.' }),
  },
  { doc: "One aspect of an object's state." },
);
export type ReplicationControllerCondition = Infer<typeof replicationControllerCondition>;

export const replicationControllerStatus = struct('core.v1.ReplicationControllerStatus', {
  replicas: required(1, int32, { doc: 'Number of pods.' }),
  fullyLabeledReplicas: optional(2, int32),
  readyReplicas: optional(4, int32, { doc: 'Pods that are ready.' }),
  availableReplicas: optional(5, int32, { doc: 'Pods that have been ready long enough.' }),
  observedGeneration: optional(3, int64, { doc: 'Generation of the object that this status is about.' }),
  conditions: optional(6, list(replicationControllerCondition), {
    ...mergedBy('type'),
    doc: 'Aspects of the state, each with its reason.',
  }),
});
export type ReplicationControllerStatus = Infer<typeof replicationControllerStatus>;

export const replicationController = kind(
  { group: '', version: 'v1', kind: 'ReplicationController', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, replicationControllerSpec),
    status: always(3, replicationControllerStatus),
  },
  { doc: 'Keeps a number of like pods running. Deployments do this and more.' },
);
export type ReplicationController = Infer<typeof replicationController>;

export const replicationControllerList = listKind(replicationController);
export type ReplicationControllerList = Infer<typeof replicationControllerList>;
