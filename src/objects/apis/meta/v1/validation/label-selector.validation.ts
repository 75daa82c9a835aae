import {
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  required,
} from '../../../../../base/machinery/field-error.js';
import { validateLabelName, validateLabels } from '../../../../../base/machinery/label-rules.js';
import { labelSelectorFromObject, SelectorError } from '../../../../../base/machinery/label-selector.js';
import { isValidLabelValue } from '../../../../../base/machinery/names.js';
import type { LabelSelector, LabelSelectorRequirement } from '../selector.types.js';

/** Validates a label selector; a missing selector is valid. */
export function validateLabelSelector(selector: LabelSelector | null | undefined, path: FieldPath): FieldError[] {
  if (selector === null || selector === undefined) return [];
  const errors = validateLabels(selector.matchLabels, path.child('matchLabels'));
  const expressions = selector.matchExpressions ?? [];
  expressions.forEach((expression, i) => {
    validateRequirement(expression, path.child('matchExpressions').index(i), errors);
  });
  return errors;
}

function validateRequirement(requirement: LabelSelectorRequirement, path: FieldPath, errors: FieldError[]): void {
  const values = requirement.values ?? [];
  switch (requirement.operator) {
    case 'In':
    case 'NotIn':
      if (values.length === 0) {
        errors.push(required(path.child('values'), "must be specified when `operator` is 'In' or 'NotIn'"));
      }
      break;
    case 'Exists':
    case 'DoesNotExist':
      if (values.length > 0) {
        const detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
        errors.push(forbidden(path.child('values'), detail));
      }
      break;
    default:
      errors.push(invalid(path.child('operator'), requirement.operator, 'not a valid selector operator'));
  }
  errors.push(...validateLabelName(requirement.key, path.child('key')));
  values.forEach((value, i) => {
    for (const m of isValidLabelValue(value)) errors.push(invalid(path.child('values').index(i), value, m));
  });
}

/** Whether a selector has no requirement at all, so that it would select everything. */
export function isEmptySelector(selector: LabelSelector | null | undefined): boolean {
  if (selector === null || selector === undefined) return true;
  return Object.keys(selector.matchLabels ?? {}).length === 0 && (selector.matchExpressions ?? []).length === 0;
}

/**
 * Whether the selector selects pods with given labels; undefined when there is nothing to check: an empty selector, or
 * one that is not valid, which is reported elsewhere.
 */
export function matcherOf(
  selector: LabelSelector | null,
): ((labels: Readonly<Record<string, string>>) => boolean) | undefined {
  if (selector !== null && isEmptySelector(selector)) return undefined;
  if (selector?.matchExpressions?.some(hasWrongValues) === true) return undefined;
  try {
    const compiled = labelSelectorFromObject(selector);
    return (labels) => compiled.matches(labels);
  } catch (error) {
    if (error instanceof SelectorError) return undefined;
    throw error;
  }
}

/** Whether an operator has no values that needs some, or the other way round. */
function hasWrongValues({ operator, values }: LabelSelectorRequirement): boolean {
  return (operator === 'In' || operator === 'NotIn') === ((values ?? []).length === 0);
}
