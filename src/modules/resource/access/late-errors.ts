import type { FieldError } from '../../../base/machinery/field-error.js';

/** Errors that take time to find, recorded for an object before it is validated. */
export class LateErrors {
  private readonly errors = new WeakMap<object, readonly FieldError[]>();

  note(object: object, errors: readonly FieldError[]): void {
    this.errors.set(object, errors);
  }

  of(object: object): readonly FieldError[] {
    return this.errors.get(object) ?? [];
  }
}
