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
} from '../../../machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { conditionStatus } from './condition-status.types.js';
import { podTemplateSpec } from './pod-spec.types.js';

export const replicationControllerSpec = struct('core.v1.ReplicationControllerSpec', {
  replicas: pointer(1, int32, { default: 1 }),
  minReadySeconds: optional(4, int32, { default: 0 }),
  selector: optional(2, map(string), { mapType: 'atomic' }),
  template: pointer(3, podTemplateSpec),
});
export type ReplicationControllerSpec = Infer<typeof replicationControllerSpec>;

export const replicationControllerConditionType = enumOf('ReplicaFailure');
export type ReplicationControllerConditionType = Infer<typeof replicationControllerConditionType>;

export const replicationControllerCondition = struct('core.v1.ReplicationControllerCondition', {
  type: required(1, replicationControllerConditionType),
  status: required(2, conditionStatus),
  lastTransitionTime: always(3, time),
  reason: optional(4, string),
  message: optional(5, string),
});
export type ReplicationControllerCondition = Infer<typeof replicationControllerCondition>;

export const replicationControllerStatus = struct('core.v1.ReplicationControllerStatus', {
  replicas: required(1, int32),
  fullyLabeledReplicas: optional(2, int32),
  readyReplicas: optional(4, int32),
  availableReplicas: optional(5, int32),
  observedGeneration: optional(3, int64),
  conditions: optional(6, list(replicationControllerCondition), mergedBy('type')),
});
export type ReplicationControllerStatus = Infer<typeof replicationControllerStatus>;

export const replicationController = kind(
  { group: '', version: 'v1', kind: 'ReplicationController', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, replicationControllerSpec),
    status: always(3, replicationControllerStatus),
  },
);
export type ReplicationController = Infer<typeof replicationController>;

export const replicationControllerList = listKind(replicationController);
export type ReplicationControllerList = Infer<typeof replicationControllerList>;
