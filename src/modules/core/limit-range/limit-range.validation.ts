import {
  duplicate,
  type FieldError,
  FieldPath,
  forbidden,
  invalid,
  required,
} from '../../../base/machinery/field-error.js';
import { isQualifiedName } from '../../../base/machinery/names.js';
import { ownValue } from '../../../base/machinery/own-value.js';
import { compareQuantities, quantityMilliValue } from '../../../base/machinery/values/quantity.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import { isHugePages } from '../../../objects/apis/core/v1/huge-pages.js';
import type { LimitRange, LimitRangeItem } from '../../../objects/apis/core/v1/limit-range.types.js';
import {
  checkContainerResourceName,
  checkResourceName,
  isNativeResource,
} from '../../../objects/apis/core/v1/validation/resources.validation.js';

const limitsPath = FieldPath.of('spec', 'limits');
const standardTypes = ['Pod', 'Container', 'PersistentVolumeClaim'];

/** Validates a limit range: one item per type, and in each: min <= default request <= default <= max. */
export function validateLimitRange(object: LimitRange, names: VendorNames): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  object.spec.limits?.forEach((item, i) => {
    const path = limitsPath.index(i);
    validateType(item.type, path.child('type'), errors);
    if (seen.has(item.type)) errors.push(duplicate(path.child('type'), item.type));
    seen.add(item.type);
    validateNames(item, path, names, errors);
    const keys = new Set(amountFields.flatMap((field) => Object.keys(item[field] ?? {})));
    for (const key of [...keys].sort()) validateOrder(item, key, path, names, errors);
  });
  return errors;
}

const amountFields = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const;

function validateType(type: string, path: FieldPath, errors: FieldError[]): void {
  const broken = isQualifiedName(type);
  for (const m of broken) errors.push(invalid(path, type, m));
  if (broken.length === 0 && !type.includes('/') && !standardTypes.includes(type)) {
    errors.push(invalid(path, type, 'must be a standard limit type or fully qualified'));
  }
}

function validateNames(item: LimitRangeItem, path: FieldPath, names: VendorNames, errors: FieldError[]): void {
  const isOfPods = item.type === 'Pod';
  const ofContainers = isOfPods || item.type === 'Container';
  for (const field of amountFields) {
    const at = path.child(field);
    if (isOfPods && (field === 'default' || field === 'defaultRequest')) {
      const isGiven = Object.keys(item[field] ?? {}).length > 0;
      if (isGiven) errors.push(forbidden(at, "may not be specified when `type` is 'Pod'"));
      continue;
    }
    if (field === 'maxLimitRequestRatio') requireStorageBound(item, path, errors);
    for (const name of Object.keys(item[field] ?? {})) {
      if (ofContainers) checkContainerResourceName(name, at.key(name), names, errors);
      else checkResourceName(name, at.key(name), errors);
    }
  }
}

function requireStorageBound(item: LimitRangeItem, path: FieldPath, errors: FieldError[]): void {
  if (item.type !== 'PersistentVolumeClaim') return;
  if (item.min?.storage !== undefined || item.max?.storage !== undefined) return;
  const detail = 'either minimum or maximum storage value is required, but neither was provided';
  errors.push(required(path.child('limits'), detail));
}

function validateOrder(
  item: LimitRangeItem,
  name: string,
  path: FieldPath,
  names: VendorNames,
  errors: FieldError[],
): void {
  const min = ownValue(item.min, name);
  const max = ownValue(item.max, name);
  // Pods have no defaults; any were already reported.
  const limit = item.type === 'Pod' ? undefined : ownValue(item.default, name);
  const request = item.type === 'Pod' ? undefined : ownValue(item.defaultRequest, name);
  const ratio = ownValue(item.maxLimitRequestRatio, name);
  /** Reports an error at `field` if `a` exceeds `b`. */
  const check = (
    field: (typeof amountFields)[number],
    shown: string | undefined,
    a: string | undefined,
    b: string | undefined,
    aText: string,
    bText: string,
  ): void => {
    if (a === undefined || b === undefined || compareQuantities(a, b) <= 0) return;
    const detail = `${aText} value ${a} is greater than ${bText} value ${b}`;
    errors.push(invalid(path.child(field).key(name), shown, detail));
  };
  check('min', min, min, max, 'min', 'max');
  check('defaultRequest', request, min, request, 'min', 'default request');
  check('defaultRequest', request, request, max, 'default request', 'max');
  check('defaultRequest', request, request, limit, 'default request', 'default limit');
  check('default', min, min, limit, 'min', 'default');
  check('default', max, limit, max, 'default', 'max');
  if (ratio !== undefined) validateRatio(ratio, min, max, path.child('maxLimitRequestRatio').key(name), errors);
  const mayOvercommit = isNativeResource(name, names) && !isHugePages(name);
  const differs = limit !== undefined && request !== undefined && compareQuantities(limit, request) !== 0;
  if (!mayOvercommit && differs) {
    const detail = `default value ${limit} must equal to defaultRequest value ${request} in ${name}`;
    errors.push(invalid(path.child('default').key(name), limit, detail));
  }
}

function validateRatio(
  ratio: string,
  min: string | undefined,
  max: string | undefined,
  path: FieldPath,
  errors: FieldError[],
): void {
  if (compareQuantities(ratio, '1') < 0) errors.push(invalid(path, ratio, `ratio ${ratio} is less than 1`));
  if (min === undefined || max === undefined) return;
  const most = quantityMilliValue(max) / quantityMilliValue(min);
  if (quantityMilliValue(ratio) / 1000 > most) {
    errors.push(invalid(path, ratio, `ratio ${ratio} is greater than max/min = ${most.toFixed(6)}`));
  }
}
