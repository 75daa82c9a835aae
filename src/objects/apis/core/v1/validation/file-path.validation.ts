import { type FieldError, type FieldPath, invalid } from '../../../../../base/machinery/field-error.js';
import { checkLocalDescendingPath } from './common.validation.js';

/**
 * Checks the relative path of a file in a volume; names starting with two dots are reserved for the volume's own files.
 */
export function checkFilePath(value: string, path: FieldPath, errors: FieldError[]): void {
  checkLocalDescendingPath(value, path, errors);
  if (value.startsWith('..') && !value.startsWith('../')) {
    errors.push(invalid(path, value, "must not start with '..'"));
  }
}
