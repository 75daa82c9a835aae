import { type FieldError, type FieldPath, invalid, required } from '../../base/machinery/field-error.js';
import { isDns1123Subdomain, isPathSegmentName } from '../../base/machinery/names.js';

/**
 * Validates a reference to an object of any kind by group, kind and name. `requiredLast`: whether missing fields come after
 * malformed ones.
 */
export function validateTypedReference(
  reference: { readonly apiGroup?: string | null; readonly kind: string; readonly name: string },
  path: FieldPath,
  errors: FieldError[],
  requiredLast = false,
): void {
  const { apiGroup, kind, name } = reference;
  if (apiGroup !== undefined && apiGroup !== null) {
    for (const m of isDns1123Subdomain(apiGroup)) errors.push(invalid(path.child('apiGroup'), apiGroup, m));
  }
  const missing: FieldError[] = [];
  for (const [field, value] of Object.entries({ kind, name })) {
    if (value === '') (requiredLast ? missing : errors).push(required(path.child(field)));
    else for (const m of isPathSegmentName(value)) errors.push(invalid(path.child(field), value, m));
  }
  errors.push(...missing);
}
