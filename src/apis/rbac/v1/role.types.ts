import {
  always,
  type Infer,
  kind,
  list,
  optional,
  pointer,
  required,
  string,
  struct,
} from '../../../machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { labelSelector } from '../../meta/v1/selector.types.js';

export const policyRule = struct('rbac.v1.PolicyRule', {
  verbs: required(1, list(string)),
  apiGroups: optional(2, list(string)),
  resources: optional(3, list(string)),
  resourceNames: optional(4, list(string)),
  nonResourceURLs: optional(5, list(string)),
});
export type PolicyRule = Infer<typeof policyRule>;

export const aggregationRule = struct('rbac.v1.AggregationRule', {
  clusterRoleSelectors: optional(1, list(labelSelector)),
});
export type AggregationRule = Infer<typeof aggregationRule>;

export const clusterRole = kind(
  { group: 'rbac.authorization', version: 'v1', kind: 'ClusterRole', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    rules: always(2, list(policyRule)),
    aggregationRule: pointer(3, aggregationRule),
  },
);
export type ClusterRole = Infer<typeof clusterRole>;

export const clusterRoleList = listKind(clusterRole);
export type ClusterRoleList = Infer<typeof clusterRoleList>;

export const role = kind(
  { group: 'rbac.authorization', version: 'v1', kind: 'Role', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    rules: always(2, list(policyRule)),
  },
);
export type Role = Infer<typeof role>;

export const roleList = listKind(role);
export type RoleList = Infer<typeof roleList>;
