import type { RoleBinding, Subject } from '../../../objects/apis/rbac/v1/role-binding.types.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import type { TableColumn } from '../../../objects/registry/resource-definition.js';

/** Columns of both kinds of bindings. */
export const bindingColumns: readonly TableColumn<RoleBinding>[] = [
  nameColumn,
  {
    name: 'Role',
    type: 'string',
    description: 'Role that is granted.',
    cell: ({ roleRef }) => `${roleRef.kind}/${roleRef.name}`,
  },
  ageColumn,
  {
    name: 'Users',
    type: 'string',
    description: 'Users that get the role.',
    priority: 1,
    cell: (binding) => subjectNames(binding, 'User'),
  },
  {
    name: 'Groups',
    type: 'string',
    description: 'Groups that get the role.',
    priority: 1,
    cell: (binding) => subjectNames(binding, 'Group'),
  },
  {
    name: 'ServiceAccounts',
    type: 'string',
    description: 'Service accounts that get the role.',
    priority: 1,
    cell: (binding) => subjectNames(binding, 'ServiceAccount'),
  },
];

function subjectNames(binding: RoleBinding, kind: Subject['kind']): string {
  return (binding.subjects ?? [])
    .filter((subject) => subject.kind === kind)
    .map(({ name, namespace }) => (kind === 'ServiceAccount' ? `${namespace ?? ''}/${name}` : name))
    .join(', ');
}
