import { type LabelOperator, type LabelRequirement, labelRequirement } from './label-requirement.js';
import { isQualifiedName, isValidLabelValue } from './names.js';
import { requirementError } from './selector-error.js';

/** Throws a `SelectorError` for a string that can't be the key of a label. */
export function checkLabelKey(key: string): void {
  const errors = isQualifiedName(key);
  if (errors.length > 0) {
    throw requirementError(`<nil>: Invalid value: ${JSON.stringify(key)}: ${errors.join('; ')}`);
  }
}

/** Checks and builds one requirement; throws a `SelectorError` for a bad key, operator or value. */
export function checkedRequirement(key: string, operator: LabelOperator, values: readonly string[]): LabelRequirement {
  checkLabelKey(key);
  if (operator === '>' || operator === '<') {
    if (values.length !== 1 || !/^[+-]?\d+$/.test(values[0] as string)) {
      const text = JSON.stringify(values[0] ?? '');
      throw requirementError(
        `values[0]: Invalid value: ${text}: for 'Gt', 'Lt' operators, the value must be an integer`,
      );
    }
  }
  for (const [i, value] of values.entries()) {
    const errors = isValidLabelValue(value);
    if (errors.length > 0) {
      throw requirementError(`values[${i}][${key}]: Invalid value: ${JSON.stringify(value)}: ${errors.join('; ')}`);
    }
  }
  return labelRequirement(key, operator, values);
}
