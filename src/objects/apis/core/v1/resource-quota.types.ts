import {
  always,
  enumOf,
  type Infer,
  kind,
  list,
  optional,
  pointer,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { resourceList } from './resources.types.js';

export const resourceQuotaScope = enumOf(
  'BestEffort',
  'CrossNamespacePodAffinity',
  'NotBestEffort',
  'NotTerminating',
  'PriorityClass',
  'Terminating',
  'VolumeAttributesClass',
);
export type ResourceQuotaScope = Infer<typeof resourceQuotaScope>;

export const scopeSelectorOperator = enumOf('DoesNotExist', 'Exists', 'In', 'NotIn');
export type ScopeSelectorOperator = Infer<typeof scopeSelectorOperator>;

export const scopedResourceSelectorRequirement = struct('core.v1.ScopedResourceSelectorRequirement', {
  scopeName: required(1, resourceQuotaScope),
  operator: required(2, scopeSelectorOperator),
  values: optional(3, list(string)),
});
export type ScopedResourceSelectorRequirement = Infer<typeof scopedResourceSelectorRequirement>;

export const scopeSelector = struct(
  'core.v1.ScopeSelector',
  {
    matchExpressions: optional(1, list(scopedResourceSelectorRequirement)),
  },
  { mapType: 'atomic' },
);
export type ScopeSelector = Infer<typeof scopeSelector>;

export const resourceQuotaSpec = struct('core.v1.ResourceQuotaSpec', {
  hard: optional(1, resourceList, { doc: 'The most of each resource.' }),
  scopes: optional(2, list(resourceQuotaScope), { doc: 'What is counted; everything if empty.' }),
  scopeSelector: pointer(3, scopeSelector, { doc: 'What is counted, as requirements.' }),
});
export type ResourceQuotaSpec = Infer<typeof resourceQuotaSpec>;

export const resourceQuotaStatus = struct('core.v1.ResourceQuotaStatus', {
  hard: optional(1, resourceList, { doc: 'Bounds in force.' }),
  used: optional(2, resourceList, { doc: 'What is used.' }),
});
export type ResourceQuotaStatus = Infer<typeof resourceQuotaStatus>;

export const resourceQuota = kind(
  { group: '', version: 'v1', kind: 'ResourceQuota', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, resourceQuotaSpec),
    status: always(3, resourceQuotaStatus),
  },
  { doc: 'Bounds for everything in a namespace together.' },
);
export type ResourceQuota = Infer<typeof resourceQuota>;

export const resourceQuotaList = listKind(resourceQuota);
export type ResourceQuotaList = Infer<typeof resourceQuotaList>;
