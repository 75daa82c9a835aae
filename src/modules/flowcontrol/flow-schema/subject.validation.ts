import {
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../../base/machinery/field-error.js';
import { isDns1123Label, isDns1123Subdomain } from '../../../base/machinery/names.js';
import type { Subject } from '../../../objects/apis/flowcontrol/v1/flow-schema.types.js';

/** The field of a subject that goes with its kind. */
const fieldOfKind = { ServiceAccount: 'serviceAccount', User: 'user', Group: 'group' } as const;
type SubjectKind = keyof typeof fieldOfKind;

/** Validates one subject: it must have the field of its kind, and no other. */
export function checkSubject(subject: Subject, path: FieldPath, errors: FieldError[]): void {
  if (!Object.hasOwn(fieldOfKind, subject.kind)) {
    errors.push(notSupported(path.child('kind'), subject.kind, ['Group', 'ServiceAccount', 'User']));
    return;
  }
  const own = subject.kind as SubjectKind;
  const ownField = fieldOfKind[own];
  if (subject[ownField] === undefined) {
    errors.push(required(path.child(ownField), `${ownField} is required when subject kind is '${own}'`));
  } else if (own === 'ServiceAccount') checkServiceAccount(subject, path.child(ownField), errors);
  else if (subject[fieldOfKind[own]]?.name === '') errors.push(required(path.child(ownField).child('name'), ''));
  for (const [kind, field] of Object.entries(fieldOfKind)) {
    if (field === ownField || subject[field] === undefined) continue;
    errors.push(forbidden(path.child(field), `${field} is forbidden when subject kind is not '${kind}'`));
  }
}

function checkServiceAccount({ serviceAccount }: Subject, path: FieldPath, errors: FieldError[]): void {
  const { name = '', namespace = '' } = serviceAccount ?? {};
  if (name === '') errors.push(required(path.child('name'), ''));
  else if (name !== '*') {
    for (const message of isDns1123Subdomain(name)) errors.push(invalid(path.child('name'), name, message));
  }
  const namespacePath = path.child('namespace');
  if (namespace === '') errors.push(required(namespacePath, 'must specify namespace for service account'));
  else for (const message of isDns1123Label(namespace)) errors.push(invalid(namespacePath, namespace, message));
}
