import {
  always,
  bool,
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
import { podTemplateSpec } from '../../core/v1/pod-spec.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { labelSelector } from '../../meta/v1/selector.types.js';

export const deploymentStrategyType = enumOf('Recreate', 'RollingUpdate');
export type DeploymentStrategyType = Infer<typeof deploymentStrategyType>;

export const rollingUpdateDeployment = struct('apps.v1.RollingUpdateDeployment', {
  maxUnavailable: pointer(1, intOrString, {
    doc: 'How many may be missing during an update: a number or a percentage.',
  }),
  maxSurge: pointer(2, intOrString, {
    doc: 'How many may exist beyond the wanted number during an update: a number or a percentage.',
  }),
});
export type RollingUpdateDeployment = Infer<typeof rollingUpdateDeployment>;

export const deploymentStrategy = struct('apps.v1.DeploymentStrategy', {
  type: optional(1, deploymentStrategyType, { doc: 'RollingUpdate or Recreate.' }),
  rollingUpdate: pointer(2, rollingUpdateDeployment, { doc: 'Settings of RollingUpdate.' }),
});
export type DeploymentStrategy = Infer<typeof deploymentStrategy>;

export const deploymentSpec = struct(
  'apps.v1.DeploymentSpec',
  {
    replicas: pointer(1, int32, { doc: 'Number of wanted pods; 1 if not given.' }),
    selector: required(2, labelSelector, {
      nullable: true,
      doc: "Labels of the pods that belong here. Can't be changed.",
    }),
    template: required(3, podTemplateSpec, { doc: 'Description of the pods.' }),
    strategy: always(4, deploymentStrategy, {
      patch: { strategy: 'merge', retainKeys: true },
      doc: 'How old pods are replaced by new ones.',
    }),
    minReadySeconds: optional(5, int32, {
      doc: 'How long a new pod must be ready before it counts as available, in seconds.',
    }),
    revisionHistoryLimit: pointer(6, int32, { doc: 'How many old revisions are kept for going back.' }),
    paused: optional(7, bool, { doc: 'Whether changes wait.' }),
    progressDeadlineSeconds: pointer(9, int32, {
      doc: 'How long an update may go without progress before it counts as failed, in seconds.',
    }),
  },
  { doc: 'Which pods are wanted and how they are replaced.' },
);
export type DeploymentSpec = Infer<typeof deploymentSpec>;

export const deploymentConditionType = enumOf('Available', 'Progressing', 'ReplicaFailure');
export type DeploymentConditionType = Infer<typeof deploymentConditionType>;

export const deploymentCondition = struct(
  'apps.v1.DeploymentCondition',
  {
    type: required(1, deploymentConditionType, { doc: 'Name of the aspect.' }),
    status: required(2, conditionStatus, { doc: 'True, False or Unknown.' }),
    lastUpdateTime: always(6, time, { doc: 'When the condition was last written.' }),
    lastTransitionTime: always(7, time, { doc: 'When the status last changed.' }),
    reason: optional(4, string, { doc: 'Short word for programs: why the status is so.' }),
    message: optional(5, string, { doc: 'Text for people: why the status is so.' }),
  },
  { doc: "One aspect of an object's state." },
);
export type DeploymentCondition = Infer<typeof deploymentCondition>;

export const deploymentStatus = struct(
  'apps.v1.DeploymentStatus',
  {
    observedGeneration: optional(1, int64, { doc: 'Generation of the object that this status is about.' }),
    replicas: optional(2, int32, { doc: 'Number of pods.' }),
    updatedReplicas: optional(3, int32, { doc: 'Pods of the present description.' }),
    readyReplicas: optional(7, int32, { doc: 'Pods that are ready.' }),
    availableReplicas: optional(4, int32, { doc: 'Pods that have been ready long enough.' }),
    unavailableReplicas: optional(5, int32, { doc: 'Pods that are still missing.' }),
    terminatingReplicas: pointer(9, int32, { doc: 'Pods that are being deleted.' }),
    conditions: optional(6, list(deploymentCondition), {
      ...mergedBy('type'),
      doc: 'Aspects of the state, each with its reason.',
    }),
    collisionCount: pointer(8, int32, { doc: 'Name collisions so far; goes into the hash of new names.' }),
  },
  { doc: 'How far a deployment is.' },
);
export type DeploymentStatus = Infer<typeof deploymentStatus>;

export const deployment = kind(
  { group: 'apps', version: 'v1', kind: 'Deployment', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, deploymentSpec),
    status: always(3, deploymentStatus),
  },
  { doc: 'Keeps like pods running and replaces them step by step when their description changes.' },
);
export type Deployment = Infer<typeof deployment>;

export const deploymentList = listKind(deployment);
export type DeploymentList = Infer<typeof deploymentList>;
