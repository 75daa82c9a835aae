import { always, type Infer, kind, list, optional, required, string, struct } from '../../../machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';

export const subject = struct(
  'rbac.v1.Subject',
  {
    kind: required(1, string),
    apiGroup: optional(2, string),
    name: required(3, string),
    namespace: optional(4, string),
  },
  { mapType: 'atomic' },
);
export type Subject = Infer<typeof subject>;

export const roleRef = struct(
  'rbac.v1.RoleRef',
  {
    apiGroup: always(1, string),
    kind: required(2, string),
    name: required(3, string),
  },
  { mapType: 'atomic' },
);
export type RoleRef = Infer<typeof roleRef>;

export const clusterRoleBinding = kind(
  { group: 'rbac.authorization', version: 'v1', kind: 'ClusterRoleBinding', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    subjects: optional(2, list(subject)),
    roleRef: required(3, roleRef),
  },
);
export type ClusterRoleBinding = Infer<typeof clusterRoleBinding>;

export const clusterRoleBindingList = listKind(clusterRoleBinding);
export type ClusterRoleBindingList = Infer<typeof clusterRoleBindingList>;

export const roleBinding = kind(
  { group: 'rbac.authorization', version: 'v1', kind: 'RoleBinding', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    subjects: optional(2, list(subject)),
    roleRef: required(3, roleRef),
  },
);
export type RoleBinding = Infer<typeof roleBinding>;

export const roleBindingList = listKind(roleBinding);
export type RoleBindingList = Infer<typeof roleBindingList>;
