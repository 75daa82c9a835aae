import { type FieldError, type FieldPath, forbidden, invalid, required } from '../../../base/machinery/field-error.js';
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  quantitySign,
  scaledQuantity,
} from '../../../base/machinery/values/quantity.js';
import type {
  CapacityRequestPolicy,
  CapacityRequestPolicyRange,
} from '../../../objects/apis/resource/v1/device.types.js';
import { validateUniqueItems } from '../validation/lists.validation.js';

const maxOptions = 10;
const largest = 2n ** 63n - 1n;

/** Validates how requests for a capacity are rounded. */
export function validateRequestPolicy(capacity: string, policy: CapacityRequestPolicy, path: FieldPath): FieldError[] {
  const { validValues = [], validRange, default: standard } = policy;
  if (validValues.length > 0 && validRange !== undefined) {
    const detail =
      'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time';
    return [forbidden(path, detail)];
  }
  const field = validValues.length > 0 ? 'validValues' : validRange === undefined ? undefined : 'validRange';
  if (field === undefined) return [];
  if (standard === null || standard === undefined) {
    return [required(path.child('default'), `required when ${field} is defined`)];
  }
  const at = path.child(field);
  return validRange === undefined
    ? validateOptions(capacity, validValues, standard, at)
    : validateRange(capacity, validRange, standard, at);
}

function validateOptions(
  capacity: string,
  options: readonly string[],
  standard: string,
  path: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  for (const [i, option] of options.entries()) {
    if (i > 0 && compareQuantities(options[i - 1] as string, option) > 0) {
      errors.push(invalid(path.index(i), option, 'values must be sorted in ascending order'));
    }
  }
  errors.push(
    ...validateUniqueItems(
      options,
      maxOptions,
      path,
      (option, at) =>
        compareQuantities(option, capacity) > 0
          ? [invalid(at, option, `option is larger than capacity value: ${capacity}`)]
          : [],
      (option) => String(scaledQuantity(option, 0)),
    ),
  );
  if (options.length > maxOptions || options.some((option) => compareQuantities(option, standard) === 0)) return errors;
  errors.push(invalid(path, standard, 'default value is not valid according to the requestPolicy'));
  return errors;
}

function validateRange(
  capacity: string,
  range: CapacityRequestPolicyRange,
  standard: string,
  path: FieldPath,
): FieldError[] {
  const { min, max, step } = range;
  if (min === undefined) return [required(path.child('min'), 'required when validRange is defined')];
  const errors: FieldError[] = [];
  const isLarger = (a: string, b: string) => compareQuantities(a, b) > 0;
  const add = (field: string, value: string, detail: string) => errors.push(invalid(path.child(field), value, detail));
  if (isLarger(min, capacity)) add('min', min, `min is larger than capacity value: ${capacity}`);
  if (isLarger(min, standard)) add('default', standard, `default is less than min: ${min}`);
  if (max !== undefined) {
    if (isLarger(min, max)) add('max', min, `min is larger than max: ${max}`);
    if (isLarger(max, capacity)) add('max', max, `max is larger than capacity value: ${capacity}`);
    if (isLarger(standard, max)) add('default', standard, `default is more than max: ${max}`);
  }
  if (step !== undefined) errors.push(...validateStep(capacity, { ...range, min, step }, standard, path));
  return errors;
}

function validateStep(
  capacity: string,
  { min, max, step }: { readonly min: string; readonly max?: string; readonly step: string },
  standard: string,
  path: FieldPath,
): FieldError[] {
  const at = path.child('step');
  if (quantitySign(step) <= 0) return [invalid(at, step, 'must be greater than zero')];
  const errors: FieldError[] = [];
  const added = addQuantities(min, step);
  if (compareQuantities(added, capacity) > 0) {
    const detail = `one step ${formatQuantity(added)} is larger than capacity value: ${capacity}`;
    errors.push(invalid(at, step, detail));
  }
  const bounds = Object.entries({ default: standard, min, max, step }).flatMap(([field, value]) =>
    value === undefined ? [] : validateBound(value, path.child(field)),
  );
  if (bounds.length > 0) return [...errors, ...bounds];
  for (const value of max === undefined ? [standard] : [standard, max]) {
    if ((scaledQuantity(value, 0) - scaledQuantity(min, 0)) % scaledQuantity(step, 0) === 0n) continue;
    errors.push(invalid(at, value, `value is not a multiple of a given step (${step}) from (${min})`));
  }
  return errors;
}

/** Checks that a bound fits in 64 bits, because steps are counted in whole numbers of that size. */
function validateBound(value: string, path: FieldPath): FieldError[] {
  if (quantitySign(value) < 0) return [invalid(path, value, 'must be greater than or equal to 0')];
  return scaledQuantity(value, 0) > largest ? [invalid(path, value, `must not be larger than ${largest}`)] : [];
}
