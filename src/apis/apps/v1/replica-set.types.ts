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
} from '../../../machinery/schema/index.js';
import { conditionStatus } from '../../core/v1/condition-status.types.js';
import { podTemplateSpec } from '../../core/v1/pod-spec.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { labelSelector } from '../../meta/v1/selector.types.js';

export const replicaSetSpec = struct('apps.v1.ReplicaSetSpec', {
  replicas: pointer(1, int32),
  minReadySeconds: optional(4, int32),
  selector: required(2, labelSelector, { nullable: true }),
  template: always(3, podTemplateSpec),
});
export type ReplicaSetSpec = Infer<typeof replicaSetSpec>;

export const replicaSetConditionType = enumOf('ReplicaFailure');
export type ReplicaSetConditionType = Infer<typeof replicaSetConditionType>;

export const replicaSetCondition = struct('apps.v1.ReplicaSetCondition', {
  type: required(1, replicaSetConditionType),
  status: required(2, conditionStatus),
  lastTransitionTime: always(3, time),
  reason: optional(4, string),
  message: optional(5, string),
});
export type ReplicaSetCondition = Infer<typeof replicaSetCondition>;

export const replicaSetStatus = struct('apps.v1.ReplicaSetStatus', {
  replicas: required(1, int32),
  fullyLabeledReplicas: optional(2, int32),
  readyReplicas: optional(4, int32),
  availableReplicas: optional(5, int32),
  terminatingReplicas: pointer(7, int32),
  observedGeneration: optional(3, int64),
  conditions: optional(6, list(replicaSetCondition), mergedBy('type')),
});
export type ReplicaSetStatus = Infer<typeof replicaSetStatus>;

export const replicaSet = kind(
  { group: 'apps', version: 'v1', kind: 'ReplicaSet', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, replicaSetSpec),
    status: always(3, replicaSetStatus),
  },
);
export type ReplicaSet = Infer<typeof replicaSet>;

export const replicaSetList = listKind(replicaSet);
export type ReplicaSetList = Infer<typeof replicaSetList>;
