import {
  always,
  enumOf,
  type Infer,
  int32,
  int64,
  kind,
  list,
  mergedBy,
  optional,
  pointer,
  required,
  string,
  struct,
  time,
} from '../../../../base/machinery/schema/index.js';
import { conditionStatus } from '../../core/v1/condition-status.types.js';
import { podTemplateSpec } from '../../core/v1/pod-spec.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { labelSelector } from '../../meta/v1/selector.types.js';

export const replicaSetSpec = struct('apps.v1.ReplicaSetSpec', {
  replicas: pointer(1, int32, { doc: 'Number of pods.' }),
  minReadySeconds: optional(4, int32, {
    doc: 'How long a new pod must be ready before it counts as available, in seconds.',
  }),
  selector: required(2, labelSelector, {
    nullable: true,
    doc: "Labels of the pods that belong here. Can't be changed.",
  }),
  template: always(3, podTemplateSpec, { doc: 'Description of the pods.' }),
});
export type ReplicaSetSpec = Infer<typeof replicaSetSpec>;

export const replicaSetConditionType = enumOf('ReplicaFailure');
export type ReplicaSetConditionType = Infer<typeof replicaSetConditionType>;

export const replicaSetCondition = struct(
  'apps.v1.ReplicaSetCondition',
  {
    type: required(1, replicaSetConditionType, { doc: 'Name of the aspect.' }),
    status: required(2, conditionStatus, { doc: 'True, False or Unknown.' }),
    lastTransitionTime: always(3, time, { doc: 'When the status last changed.' }),
    reason: optional(4, string, { doc: 'Short word for programs: why the status is so.' }),
    message: optional(5, string, { doc: 'Text for people: why the status is so.' }),
  },
  { doc: "One aspect of an object's state." },
);
export type ReplicaSetCondition = Infer<typeof replicaSetCondition>;

export const replicaSetStatus = struct('apps.v1.ReplicaSetStatus', {
  replicas: required(1, int32, { doc: 'Number of pods.' }),
  fullyLabeledReplicas: optional(2, int32, { doc: 'Pods that have all labels of the description.' }),
  readyReplicas: optional(4, int32, { doc: 'Pods that are ready.' }),
  availableReplicas: optional(5, int32, { doc: 'Pods that have been ready long enough.' }),
  terminatingReplicas: pointer(7, int32, { doc: 'Pods that are being deleted.' }),
  observedGeneration: optional(3, int64, { doc: 'Generation of the object that this status is about.' }),
  conditions: optional(6, list(replicaSetCondition), {
    ...mergedBy('type'),
    doc: 'Aspects of the state, each with its reason.',
  }),
});
export type ReplicaSetStatus = Infer<typeof replicaSetStatus>;

export const replicaSet = kind(
  { group: 'apps', version: 'v1', kind: 'ReplicaSet', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, replicaSetSpec),
    status: always(3, replicaSetStatus),
  },
  { doc: 'Keeps a number of like pods running.' },
);
export type ReplicaSet = Infer<typeof replicaSet>;

export const replicaSetList = listKind(replicaSet);
export type ReplicaSetList = Infer<typeof replicaSetList>;
