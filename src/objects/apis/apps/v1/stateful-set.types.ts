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
} from '../../../../base/machinery/schema/index.js';
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
  maxUnavailable: pointer(2, intOrString, {
    doc: 'How many may be missing during an update: a number or a percentage.',
  }),
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

export const statefulSetSpec = struct(
  'apps.v1.StatefulSetSpec',
  {
    replicas: pointer(1, int32, { doc: 'Number of pods.' }),
    selector: required(2, labelSelector, {
      nullable: true,
      doc: "Labels of the pods that belong here. Can't be changed.",
    }),
    template: required(3, podTemplateSpec, { doc: 'Description of the pods.' }),
    volumeClaimTemplates: optional(4, list(persistentVolumeClaim), { doc: 'Claims that every pod gets for itself.' }),
    serviceName: always(5, string, { doc: 'Service that gives the pods their names.' }),
    podManagementPolicy: optional(6, podManagementPolicyType, { doc: 'One after the other, or all at once.' }),
    updateStrategy: always(7, statefulSetUpdateStrategy, { doc: 'How pods are replaced.' }),
    revisionHistoryLimit: pointer(8, int32, { doc: 'How many old revisions are kept for going back.' }),
    minReadySeconds: optional(9, int32, {
      doc: 'How long a new pod must be ready before it counts as available, in seconds.',
    }),
    persistentVolumeClaimRetentionPolicy: pointer(10, statefulSetPersistentVolumeClaimRetentionPolicy, {
      doc: 'What becomes of claims whose pod is gone.',
    }),
    ordinals: pointer(11, statefulSetOrdinals, { doc: 'How pods are numbered.' }),
  },
  { doc: 'Which pods are wanted and how they are replaced.' },
);
export type StatefulSetSpec = Infer<typeof statefulSetSpec>;

export const statefulSetCondition = struct(
  'apps.v1.StatefulSetCondition',
  {
    type: required(1, string, { doc: 'Name of the aspect.' }),
    status: required(2, conditionStatus, { doc: 'True, False or Unknown.' }),
    lastTransitionTime: always(3, time, { doc: 'When the status last changed.' }),
    reason: optional(4, string, { doc: 'Short word for programs: why the status is so.' }),
    message: optional(5, string, { doc: 'Text for people: why the status is so.' }),
  },
  { doc: "One aspect of an object's state." },
);
export type StatefulSetCondition = Infer<typeof statefulSetCondition>;

export const statefulSetStatus = struct('apps.v1.StatefulSetStatus', {
  observedGeneration: optional(1, int64, { doc: 'Generation of the object that this status is about.' }),
  replicas: required(2, int32, { doc: 'Number of pods.' }),
  readyReplicas: optional(3, int32, { doc: 'Pods that are ready.' }),
  currentReplicas: optional(4, int32, { doc: 'Number of pods now.' }),
  updatedReplicas: optional(5, int32, { doc: 'Pods of the new description.' }),
  currentRevision: optional(6, string, { doc: 'Description of the old pods.' }),
  updateRevision: optional(7, string, { doc: 'Description of the new pods.' }),
  collisionCount: pointer(9, int32, { doc: 'Name collisions so far; goes into the hash of new names.' }),
  conditions: optional(10, list(statefulSetCondition), {
    ...mergedBy('type'),
    doc: 'Aspects of the state, each with its reason.',
  }),
  availableReplicas: always(11, int32, { doc: 'Pods that have been ready long enough.' }),
});
export type StatefulSetStatus = Infer<typeof statefulSetStatus>;

export const statefulSet = kind(
  { group: 'apps', version: 'v1', kind: 'StatefulSet', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, statefulSetSpec),
    status: always(3, statefulSetStatus),
  },
  { doc: 'Keeps numbered pods running, each with its own name and storage.' },
);
export type StatefulSet = Infer<typeof statefulSet>;

export const statefulSetList = listKind(statefulSet);
export type StatefulSetList = Infer<typeof statefulSetList>;
