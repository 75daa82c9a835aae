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
} from '../../../machinery/schema/index.js';
import { conditionStatus } from '../../core/v1/condition-status.types.js';
import { podTemplateSpec } from '../../core/v1/pod-spec.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { labelSelector } from '../../meta/v1/selector.types.js';

export const deploymentStrategyType = enumOf('Recreate', 'RollingUpdate');
export type DeploymentStrategyType = Infer<typeof deploymentStrategyType>;

export const rollingUpdateDeployment = struct('apps.v1.RollingUpdateDeployment', {
  maxUnavailable: pointer(1, intOrString),
  maxSurge: pointer(2, intOrString),
});
export type RollingUpdateDeployment = Infer<typeof rollingUpdateDeployment>;

export const deploymentStrategy = struct('apps.v1.DeploymentStrategy', {
  type: optional(1, deploymentStrategyType),
  rollingUpdate: pointer(2, rollingUpdateDeployment),
});
export type DeploymentStrategy = Infer<typeof deploymentStrategy>;

export const deploymentSpec = struct('apps.v1.DeploymentSpec', {
  replicas: pointer(1, int32),
  selector: required(2, labelSelector, { nullable: true }),
  template: required(3, podTemplateSpec),
  strategy: always(4, deploymentStrategy, { patch: { strategy: 'merge', retainKeys: true } }),
  minReadySeconds: optional(5, int32),
  revisionHistoryLimit: pointer(6, int32),
  paused: optional(7, bool),
  progressDeadlineSeconds: pointer(9, int32),
});
export type DeploymentSpec = Infer<typeof deploymentSpec>;

export const deploymentConditionType = enumOf('Available', 'Progressing', 'ReplicaFailure');
export type DeploymentConditionType = Infer<typeof deploymentConditionType>;

export const deploymentCondition = struct('apps.v1.DeploymentCondition', {
  type: required(1, deploymentConditionType),
  status: required(2, conditionStatus),
  lastUpdateTime: always(6, time),
  lastTransitionTime: always(7, time),
  reason: optional(4, string),
  message: optional(5, string),
});
export type DeploymentCondition = Infer<typeof deploymentCondition>;

export const deploymentStatus = struct('apps.v1.DeploymentStatus', {
  observedGeneration: optional(1, int64),
  replicas: optional(2, int32),
  updatedReplicas: optional(3, int32),
  readyReplicas: optional(7, int32),
  availableReplicas: optional(4, int32),
  unavailableReplicas: optional(5, int32),
  terminatingReplicas: pointer(9, int32),
  conditions: optional(6, list(deploymentCondition), mergedBy('type')),
  collisionCount: pointer(8, int32),
});
export type DeploymentStatus = Infer<typeof deploymentStatus>;

export const deployment = kind(
  { group: 'apps', version: 'v1', kind: 'Deployment', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, deploymentSpec),
    status: always(3, deploymentStatus),
  },
);
export type Deployment = Infer<typeof deployment>;

export const deploymentList = listKind(deployment);
export type DeploymentList = Infer<typeof deploymentList>;
