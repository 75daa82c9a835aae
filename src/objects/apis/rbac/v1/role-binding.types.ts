import {
  always,
  type Infer,
  kind,
  list,
  optional,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';

export const subject = struct(
  'rbac.v1.Subject',
  {
    kind: required(1, string, { doc: 'User, Group or ServiceAccount.' }),
    apiGroup: optional(2, string, { doc: 'Group of the kind.' }),
    name: required(3, string, { doc: 'Name of the subject.' }),
    namespace: optional(4, string, { doc: 'Namespace of a service account.' }),
  },
  { mapType: 'atomic' },
);
export type Subject = Infer<typeof subject>;

export const roleRef = struct(
  'rbac.v1.RoleRef',
  {
    apiGroup: always(1, string, { doc: 'Group of the role.' }),
    kind: required(2, string, { doc: 'Role or ClusterRole.' }),
    name: required(3, string, { doc: 'Name of the role.' }),
  },
  { mapType: 'atomic' },
);
export type RoleRef = Infer<typeof roleRef>;

export const clusterRoleBinding = kind(
  { group: 'rbac.authorization', version: 'v1', kind: 'ClusterRoleBinding', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    subjects: optional(2, list(subject), { doc: 'Who gets the permissions.' }),
    roleRef: required(3, roleRef, { doc: "The role. Can't be changed." }),
  },
  { doc: 'Gives subjects the permissions of a role in the whole cluster.' },
);
export type ClusterRoleBinding = Infer<typeof clusterRoleBinding>;

export const clusterRoleBindingList = listKind(clusterRoleBinding);
export type ClusterRoleBindingList = Infer<typeof clusterRoleBindingList>;

export const roleBinding = kind(
  { group: 'rbac.authorization', version: 'v1', kind: 'RoleBinding', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    subjects: optional(2, list(subject), { doc: 'Who gets the permissions.' }),
    roleRef: required(3, roleRef, { doc: "The role. Can't be changed." }),
  },
  { doc: 'Gives subjects the permissions of a role within a namespace.' },
);
export type RoleBinding = Infer<typeof roleBinding>;

export const roleBindingList = listKind(roleBinding);
export type RoleBindingList = Infer<typeof roleBindingList>;
