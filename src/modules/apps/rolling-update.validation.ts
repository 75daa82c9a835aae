import { type FieldError, type FieldPath, invalid } from '../../base/machinery/field-error.js';
import { type IntOrString, parsePercentage } from '../../base/machinery/values/int-or-string.js';
import { checkNonNegative } from '../../objects/apis/core/v1/validation/common.validation.js';

const percentRule =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

/** Checks that a count or percentage, if set, is not negative. */
export function checkIntOrPercent(value: IntOrString | undefined, path: FieldPath, errors: FieldError[]): void {
  if (value === undefined) return;
  if (typeof value === 'number') checkNonNegative(value, path, errors);
  else if (parsePercentage(value) === undefined) errors.push(invalid(path, value, percentRule));
}

/** Checks that a percentage is at most 100; counts are not checked. */
export function checkAtMostAll(value: IntOrString | undefined, path: FieldPath, errors: FieldError[]): void {
  if (value === undefined) return;
  const percent = parsePercentage(value);
  if (percent !== undefined && percent > 100) errors.push(invalid(path, value, 'must not be greater than 100%'));
}

/** Whether a count or percentage is zero; a missing value counts as zero. */
export function isZero(value: IntOrString | undefined): boolean {
  if (value === undefined) return true;
  return typeof value === 'number' ? value === 0 : (parsePercentage(value) ?? 0) === 0;
}
