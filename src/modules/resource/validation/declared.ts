import type { FieldError } from '../../../base/machinery/field-error.js';

const marked = new WeakSet<FieldError>();

/** Marks errors of rules that are declared with the types. Clients see them after all others. */
export function declared(errors: FieldError[]): FieldError[] {
  for (const error of errors) marked.add(error);
  return errors;
}

/** The errors of rules that are declared with the types. */
export function onlyDeclared(errors: readonly FieldError[]): FieldError[] {
  return errors.filter((error) => marked.has(error));
}

/** Moves the errors of rules that are declared with the types to the end. */
export function declaredLast(errors: readonly FieldError[]): FieldError[] {
  return [...errors.filter((error) => !marked.has(error)), ...errors.filter((error) => marked.has(error))];
}
