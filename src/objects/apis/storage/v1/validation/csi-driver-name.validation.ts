import {
  type FieldError,
  type FieldPath,
  invalid,
  required,
  tooLong,
} from '../../../../../base/machinery/field-error.js';
import { isDns1123Subdomain } from '../../../../../base/machinery/names.js';

const maxLength = 63;

/** Validates a CSI driver's name in a reference. Case does not matter. */
export function validateCsiDriverName(name: string, path: FieldPath): FieldError[] {
  if (name === '') return [required(path)];
  const errors: FieldError[] = [];
  if (name.length > maxLength) errors.push(tooLong(path, maxLength));
  for (const m of isDns1123Subdomain(name.toLowerCase())) errors.push(invalid(path, name, m));
  return errors;
}
