import { duplicate, type FieldError, FieldPath, required } from '../../base/machinery/field-error.js';

const conditionsPath = FieldPath.of('status', 'conditions');

/** Validates the conditions in a written status: each has a type, and no type occurs twice. */
export function validateConditionTypes(conditions: readonly { readonly type?: string }[] | undefined): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [i, { type = '' }] of (conditions ?? []).entries()) {
    const path = conditionsPath.index(i).child('type');
    if (type === '') errors.push(required(path));
    else if (seen.has(type)) errors.push(duplicate(path, type));
    seen.add(type);
  }
  return errors;
}
