import { type FieldError, type FieldPath, invalid, required } from '../../base/machinery/field-error.js';
import { isDns1123Subdomain, isPathSegmentName } from '../../base/machinery/names.js';

/** Validates a reference to an object of any kind by group, kind and name. */
export function validateTypedReference(
  reference: { readonly apiGroup?: string | null; readonly kind: string; readonly name: string },
  path: FieldPath,
  errors: FieldError[],
): void {
  const { apiGroup, kind, name } = reference;
  if (apiGroup !== undefined && apiGroup !== null) {
    for (const m of isDns1123Subdomain(apiGroup)) errors.push(invalid(path.child('apiGroup'), apiGroup, m));
  }
  if (kind !== '') for (const m of isPathSegmentName(kind)) errors.push(invalid(path.child('kind'), kind, m));
  if (name !== '') for (const m of isPathSegmentName(name)) errors.push(invalid(path.child('name'), name, m));
  for (const [field, value] of Object.entries({ kind, name })) {
    if (value === '') errors.push(required(path.child(field)));
  }
}
