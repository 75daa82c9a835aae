import type { FieldError } from '../../../base/machinery/field-error.js';

const marked = new WeakSet<FieldError>();

/** Marks broken rules that are declared with the types. Clients see them behind all others. */
export function declared(errors: FieldError[]): FieldError[] {
  for (const error of errors) marked.add(error);
  return errors;
}

/** Puts the broken rules that are declared with the types behind the others. */
export function declaredLast(errors: readonly FieldError[]): FieldError[] {
  return [...errors.filter((error) => !marked.has(error)), ...errors.filter((error) => marked.has(error))];
}
