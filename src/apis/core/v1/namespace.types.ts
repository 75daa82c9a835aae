import {
  always,
  enumOf,
  type Infer,
  kind,
  list,
  mergedBy,
  optional,
  required,
  string,
  struct,
  time,
} from '../../../machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { conditionStatus } from './condition-status.types.js';

export const finalizerName = enumOf('kubernetes');
export type FinalizerName = Infer<typeof finalizerName>;

export const namespaceSpec = struct('core.v1.NamespaceSpec', {
  finalizers: optional(1, list(finalizerName)),
});
export type NamespaceSpec = Infer<typeof namespaceSpec>;

export const namespacePhase = enumOf('Active', 'Terminating');
export type NamespacePhase = Infer<typeof namespacePhase>;

export const namespaceConditionType = enumOf(
  'NamespaceContentRemaining',
  'NamespaceDeletionContentFailure',
  'NamespaceDeletionDiscoveryFailure',
  'NamespaceDeletionGroupVersionParsingFailure',
  'NamespaceFinalizersRemaining',
);
export type NamespaceConditionType = Infer<typeof namespaceConditionType>;

export const namespaceCondition = struct('core.v1.NamespaceCondition', {
  type: required(1, namespaceConditionType),
  status: required(2, conditionStatus),
  lastTransitionTime: always(4, time),
  reason: optional(5, string),
  message: optional(6, string),
});
export type NamespaceCondition = Infer<typeof namespaceCondition>;

export const namespaceStatus = struct('core.v1.NamespaceStatus', {
  phase: optional(1, namespacePhase),
  conditions: optional(2, list(namespaceCondition), mergedBy('type')),
});
export type NamespaceStatus = Infer<typeof namespaceStatus>;

export const namespace = kind(
  { group: '', version: 'v1', kind: 'Namespace', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, namespaceSpec),
    status: always(3, namespaceStatus),
  },
);
export type Namespace = Infer<typeof namespace>;

export const namespaceList = listKind(namespace);
export type NamespaceList = Infer<typeof namespaceList>;
