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
} from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { labelSelector } from '../../meta/v1/selector.types.js';

export const policyRule = struct(
  'rbac.v1.PolicyRule',
  {
    verbs: required(1, list(string), { doc: 'Actions; * for all.' }),
    apiGroups: optional(2, list(string), { doc: 'Groups of the resources; * for all.' }),
    resources: optional(3, list(string), { doc: 'Resources; * for all, with /name for a subresource.' }),
    resourceNames: optional(4, list(string), { doc: 'Names of the objects; empty for all.' }),
    nonResourceURLs: optional(5, list(string), { doc: 'Paths outside of resources; * at the end matches the rest.' }),
  },
  { doc: 'Something that is allowed.' },
);
export type PolicyRule = Infer<typeof policyRule>;

export const aggregationRule = struct('rbac.v1.AggregationRule', {
  clusterRoleSelectors: optional(1, list(labelSelector), { doc: 'Labels of the roles to collect.' }),
});
export type AggregationRule = Infer<typeof aggregationRule>;

export const clusterRole = kind(
  { group: 'rbac.authorization', version: 'v1', kind: 'ClusterRole', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    rules: always(2, list(policyRule), { doc: 'What is allowed.' }),
    aggregationRule: pointer(3, aggregationRule, { doc: 'Collects the rules of other roles.' }),
  },
  { doc: 'Permissions in the whole cluster, or for use by bindings in namespaces.' },
);
export type ClusterRole = Infer<typeof clusterRole>;

export const clusterRoleList = listKind(clusterRole);
export type ClusterRoleList = Infer<typeof clusterRoleList>;

export const role = kind(
  { group: 'rbac.authorization', version: 'v1', kind: 'Role', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    rules: always(2, list(policyRule), { doc: 'What is allowed.' }),
  },
  { doc: 'Permissions within a namespace.' },
);
export type Role = Infer<typeof role>;

export const roleList = listKind(role);
export type RoleList = Infer<typeof roleList>;
