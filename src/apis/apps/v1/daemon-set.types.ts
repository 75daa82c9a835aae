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
import { podTemplateSpec } from '../../core/v1/pod-spec.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { labelSelector } from '../../meta/v1/selector.types.js';

export const daemonSetUpdateStrategyType = enumOf('OnDelete', 'RollingUpdate');
export type DaemonSetUpdateStrategyType = Infer<typeof daemonSetUpdateStrategyType>;

export const rollingUpdateDaemonSet = struct('apps.v1.RollingUpdateDaemonSet', {
  maxUnavailable: pointer(1, intOrString),
  maxSurge: pointer(2, intOrString),
});
export type RollingUpdateDaemonSet = Infer<typeof rollingUpdateDaemonSet>;

export const daemonSetUpdateStrategy = struct('apps.v1.DaemonSetUpdateStrategy', {
  type: optional(1, daemonSetUpdateStrategyType),
  rollingUpdate: pointer(2, rollingUpdateDaemonSet),
});
export type DaemonSetUpdateStrategy = Infer<typeof daemonSetUpdateStrategy>;

export const daemonSetSpec = struct('apps.v1.DaemonSetSpec', {
  selector: required(1, labelSelector, { nullable: true }),
  template: required(2, podTemplateSpec),
  updateStrategy: always(3, daemonSetUpdateStrategy),
  minReadySeconds: optional(4, int32),
  revisionHistoryLimit: pointer(6, int32),
});
export type DaemonSetSpec = Infer<typeof daemonSetSpec>;

export const daemonSetCondition = struct('apps.v1.DaemonSetCondition', {
  type: required(1, string),
  status: required(2, conditionStatus),
  lastTransitionTime: always(3, time),
  reason: optional(4, string),
  message: optional(5, string),
});
export type DaemonSetCondition = Infer<typeof daemonSetCondition>;

export const daemonSetStatus = struct('apps.v1.DaemonSetStatus', {
  currentNumberScheduled: required(1, int32),
  numberMisscheduled: required(2, int32),
  desiredNumberScheduled: required(3, int32),
  numberReady: required(4, int32),
  observedGeneration: optional(5, int64),
  updatedNumberScheduled: optional(6, int32),
  numberAvailable: optional(7, int32),
  numberUnavailable: optional(8, int32),
  collisionCount: pointer(9, int32),
  conditions: optional(10, list(daemonSetCondition), mergedBy('type')),
});
export type DaemonSetStatus = Infer<typeof daemonSetStatus>;

export const daemonSet = kind(
  { group: 'apps', version: 'v1', kind: 'DaemonSet', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, daemonSetSpec),
    status: always(3, daemonSetStatus),
  },
);
export type DaemonSet = Infer<typeof daemonSet>;

export const daemonSetList = listKind(daemonSet);
export type DaemonSetList = Infer<typeof daemonSetList>;
