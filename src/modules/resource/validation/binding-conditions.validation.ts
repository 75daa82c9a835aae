import { duplicate, type FieldError, type FieldPath, invalid } from '../../../base/machinery/field-error.js';
import { validateLabelName } from '../../../base/machinery/label-rules.js';
import { validateItems } from './lists.validation.js';

const maxConditions = 4;

interface BindingConditions {
  readonly bindingConditions?: string[];
  readonly bindingFailureConditions?: string[];
}

/** Validates the conditions that a device must meet before a pod is bound, and those that mean that it never will. */
export function validateBindingConditions(device: BindingConditions, path: FieldPath): FieldError[] {
  const { bindingConditions: good = [], bindingFailureConditions: bad = [] } = device;
  const [goodPath, badPath] = [path.child('bindingConditions'), path.child('bindingFailureConditions')];
  const errors = [
    ...validateItems(good, maxConditions, goodPath, validateLabelName),
    ...validateItems(bad, maxConditions, badPath, validateLabelName),
    ...duplicates(good, goodPath),
  ];
  for (const [i, condition] of bad.entries()) {
    if (bad.indexOf(condition) < i) errors.push(duplicate(badPath.index(i), condition));
    if (good.includes(condition)) {
      const detail = 'bindingFailureConditions must not overlap with bindingConditions';
      errors.push(invalid(badPath.index(i), condition, detail));
    }
  }
  if (good.length === 0 && bad.length > 0) {
    errors.push(invalid(goodPath, null, 'bindingConditions are required to use bindingFailureConditions'));
  }
  if (bad.length === 0 && good.length > 0) {
    errors.push(invalid(badPath, null, 'bindingFailureConditions are required to use bindingConditions'));
  }
  return errors;
}

function duplicates(conditions: readonly string[], path: FieldPath): FieldError[] {
  return conditions.flatMap((condition, i) =>
    conditions.indexOf(condition) < i ? [duplicate(path.index(i), condition)] : [],
  );
}
