import { type FieldError, FieldPath, invalid, notSupported, required } from '../../../base/machinery/field-error.js';
import { isDns1123Subdomain, isPathSegmentName } from '../../../base/machinery/names.js';
import type {
  ClusterRoleBinding,
  RoleBinding,
  RoleRef,
  Subject,
} from '../../../objects/apis/rbac/v1/role-binding.types.js';

type AnyBinding = RoleBinding | ClusterRoleBinding;

const roleRefPath = FieldPath.of('roleRef');
const subjectsPath = FieldPath.of('subjects');
const subjectKinds = ['ServiceAccount', 'User', 'Group'];

/** Fills in the group of the role, and of users and groups; `group` is the served name of the RBAC group. */
export function applyBindingDefaults(binding: AnyBinding, group: string): void {
  if (binding.roleRef.apiGroup === '') binding.roleRef.apiGroup = group;
  for (const subject of binding.subjects ?? []) {
    const isRbacSubject = subject.kind === 'User' || subject.kind === 'Group';
    if (isRbacSubject && (subject.apiGroup ?? '') === '') subject.apiGroup = group;
  }
}

/** Validates a new binding. `isNamespaced` distinguishes a RoleBinding from a ClusterRoleBinding. */
export function validateBinding(binding: AnyBinding, isNamespaced: boolean, group: string): FieldError[] {
  const errors: FieldError[] = [];
  const { apiGroup, kind, name } = binding.roleRef;
  const roleKinds = isNamespaced ? ['Role', 'ClusterRole'] : ['ClusterRole'];
  if (apiGroup !== group) errors.push(notSupported(roleRefPath.child('apiGroup'), apiGroup, [group]));
  if (!roleKinds.includes(kind)) errors.push(notSupported(roleRefPath.child('kind'), kind, roleKinds));
  if (name !== '') for (const m of isPathSegmentName(name)) errors.push(invalid(roleRefPath.child('name'), name, m));
  for (const [i, subject] of (binding.subjects ?? []).entries()) {
    validateSubject(subject, isNamespaced, group, subjectsPath.index(i), errors);
  }
  for (const [i, subject] of (binding.subjects ?? []).entries()) {
    if (subject.name === '') errors.push(required(subjectsPath.index(i).child('name')));
  }
  if (name === '') errors.push(required(roleRefPath.child('name')));
  return errors;
}

/** Validates a changed binding: the role that it grants can't change. */
export function validateBindingUpdate(
  binding: AnyBinding,
  old: AnyBinding,
  isNamespaced: boolean,
  group: string,
): FieldError[] {
  const errors = validateBinding(binding, isNamespaced, group);
  if (!sameRole(binding.roleRef, old.roleRef)) {
    errors.push(invalid(roleRefPath, binding.roleRef, 'field is immutable'));
  }
  return errors;
}

function validateSubject(
  subject: Subject,
  isNamespaced: boolean,
  group: string,
  path: FieldPath,
  errors: FieldError[],
): void {
  const { kind, name, apiGroup = '', namespace = '' } = subject;
  switch (kind) {
    case 'ServiceAccount':
      if (name !== '') for (const m of isDns1123Subdomain(name)) errors.push(invalid(path.child('name'), name, m));
      if (apiGroup !== '') errors.push(notSupported(path.child('apiGroup'), apiGroup, ['']));
      if (!isNamespaced && namespace === '') errors.push(required(path.child('namespace')));
      break;
    case 'User':
    case 'Group':
      if (apiGroup !== group) errors.push(notSupported(path.child('apiGroup'), apiGroup, [group]));
      break;
    default:
      errors.push(notSupported(path.child('kind'), kind, subjectKinds));
  }
}

function sameRole(a: RoleRef, b: RoleRef): boolean {
  return a.apiGroup === b.apiGroup && a.kind === b.kind && a.name === b.name;
}
