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
} from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { conditionStatus } from './condition-status.types.js';

export const finalizerName = enumOf('kubernetes');
export type FinalizerName = Infer<typeof finalizerName>;

export const namespaceSpec = struct(
  'core.v1.NamespaceSpec',
  {
    finalizers: optional(1, list(finalizerName), { doc: 'What has to be emptied before the namespace may go.' }),
  },
  { doc: 'What a namespace waits for.' },
);
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

export const namespaceCondition = struct(
  'core.v1.NamespaceCondition',
  {
    type: required(1, namespaceConditionType, { doc: 'Name of the aspect.' }),
    status: required(2, conditionStatus, { doc: 'True, False or Unknown.' }),
    lastTransitionTime: always(4, time, { doc: 'When the status last changed.' }),
    reason: optional(5, string, { doc: 'Short word for programs: why the status is so.' }),
    message: optional(6, string, { doc: 'Text for people: why the status is so.' }),
  },
  { doc: "One aspect of an object's state." },
);
export type NamespaceCondition = Infer<typeof namespaceCondition>;

export const namespaceStatus = struct(
  'core.v1.NamespaceStatus',
  {
    phase: optional(1, namespacePhase, { doc: 'Active or Terminating.' }),
    conditions: optional(2, list(namespaceCondition), {
      ...mergedBy('type'),
      doc: 'Aspects of the state, each with its reason.',
    }),
  },
  { doc: 'Where a namespace is in its life.' },
);
export type NamespaceStatus = Infer<typeof namespaceStatus>;

export const namespace = kind(
  { group: '', version: 'v1', kind: 'Namespace', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, namespaceSpec),
    status: always(3, namespaceStatus),
  },
  { doc: 'A room for names: objects in different namespaces may have the same name.' },
);
export type Namespace = Infer<typeof namespace>;

export const namespaceList = listKind(namespace);
export type NamespaceList = Infer<typeof namespaceList>;
