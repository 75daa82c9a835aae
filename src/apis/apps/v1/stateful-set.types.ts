import {
  always,
  enumOf,
  type Infer,
  int32,
  int64,
  intOrString,
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
import { persistentVolumeClaim } from '../../core/v1/persistent-volume-claim.types.js';
import { podTemplateSpec } from '../../core/v1/pod-spec.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { labelSelector } from '../../meta/v1/selector.types.js';

export const podManagementPolicyType = enumOf('OrderedReady', 'Parallel');
export type PodManagementPolicyType = Infer<typeof podManagementPolicyType>;

export const statefulSetUpdateStrategyType = enumOf('OnDelete', 'RollingUpdate');
export type StatefulSetUpdateStrategyType = Infer<typeof statefulSetUpdateStrategyType>;

export const rollingUpdateStatefulSetStrategy = struct('apps.v1.RollingUpdateStatefulSetStrategy', {
  partition: pointer(1, int32),
  maxUnavailable: pointer(2, intOrString),
});
export type RollingUpdateStatefulSetStrategy = Infer<typeof rollingUpdateStatefulSetStrategy>;

export const statefulSetUpdateStrategy = struct('apps.v1.StatefulSetUpdateStrategy', {
  type: optional(1, statefulSetUpdateStrategyType),
  rollingUpdate: pointer(2, rollingUpdateStatefulSetStrategy),
});
export type StatefulSetUpdateStrategy = Infer<typeof statefulSetUpdateStrategy>;

export const persistentVolumeClaimRetentionPolicyType = enumOf('Delete', 'Retain');
export type PersistentVolumeClaimRetentionPolicyType = Infer<typeof persistentVolumeClaimRetentionPolicyType>;

export const statefulSetPersistentVolumeClaimRetentionPolicy = struct(
  'apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy',
  {
    whenDeleted: optional(1, persistentVolumeClaimRetentionPolicyType),
    whenScaled: optional(2, persistentVolumeClaimRetentionPolicyType),
  },
);
export type StatefulSetPersistentVolumeClaimRetentionPolicy = Infer<
  typeof statefulSetPersistentVolumeClaimRetentionPolicy
>;

export const statefulSetOrdinals = struct('apps.v1.StatefulSetOrdinals', {
  start: always(1, int32),
});
export type StatefulSetOrdinals = Infer<typeof statefulSetOrdinals>;

export const statefulSetSpec = struct('apps.v1.StatefulSetSpec', {
  replicas: pointer(1, int32),
  selector: required(2, labelSelector, { nullable: true }),
  template: required(3, podTemplateSpec),
  volumeClaimTemplates: optional(4, list(persistentVolumeClaim)),
  serviceName: always(5, string),
  podManagementPolicy: optional(6, podManagementPolicyType),
  updateStrategy: always(7, statefulSetUpdateStrategy),
  revisionHistoryLimit: pointer(8, int32),
  minReadySeconds: optional(9, int32),
  persistentVolumeClaimRetentionPolicy: pointer(10, statefulSetPersistentVolumeClaimRetentionPolicy),
  ordinals: pointer(11, statefulSetOrdinals),
});
export type StatefulSetSpec = Infer<typeof statefulSetSpec>;

export const statefulSetCondition = struct('apps.v1.StatefulSetCondition', {
  type: required(1, string),
  status: required(2, conditionStatus),
  lastTransitionTime: always(3, time),
  reason: optional(4, string),
  message: optional(5, string),
});
export type StatefulSetCondition = Infer<typeof statefulSetCondition>;

export const statefulSetStatus = struct('apps.v1.StatefulSetStatus', {
  observedGeneration: optional(1, int64),
  replicas: required(2, int32),
  readyReplicas: optional(3, int32),
  currentReplicas: optional(4, int32),
  updatedReplicas: optional(5, int32),
  currentRevision: optional(6, string),
  updateRevision: optional(7, string),
  collisionCount: pointer(9, int32),
  conditions: optional(10, list(statefulSetCondition), mergedBy('type')),
  availableReplicas: optional(11, int32),
});
export type StatefulSetStatus = Infer<typeof statefulSetStatus>;

export const statefulSet = kind(
  { group: 'apps', version: 'v1', kind: 'StatefulSet', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, statefulSetSpec),
    status: always(3, statefulSetStatus),
  },
);
export type StatefulSet = Infer<typeof statefulSet>;

export const statefulSetList = listKind(statefulSet);
export type StatefulSetList = Infer<typeof statefulSetList>;
