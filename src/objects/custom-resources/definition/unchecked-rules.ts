import type { FieldError } from '../../../base/machinery/field-error.js';

/** The error that says that the rules of a schema were not evaluated. */
export const uncheckedRules: FieldError = {
  type: 'FieldValueInvalid',
  field: '<nil>',
  message:
    'Invalid value: null: some validation rules were not checked because the object was invalid; ' +
    'correct the existing errors to complete validation',
};
