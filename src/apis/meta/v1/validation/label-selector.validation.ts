import { type FieldError, type FieldPath, forbidden, invalid, required } from '../../../../machinery/field-error.js';
import { isQualifiedName, isValidLabelValue } from '../../../../machinery/names.js';
import type { LabelSelector, LabelSelectorRequirement } from '../selector.types.js';

/** Broken rules of a label selector in object form; none for an absent one. */
export function validateLabelSelector(selector: LabelSelector | undefined | null, path: FieldPath): FieldError[] {
  if (selector === undefined || selector === null) return [];
  const errors: FieldError[] = [];
  if (selector.matchLabels !== undefined) {
    errors.push(...validateLabelMap(selector.matchLabels, path.child('matchLabels')));
  }
  selector.matchExpressions?.forEach((requirement, i) => {
    validateRequirement(requirement, path.child('matchExpressions').index(i), errors);
  });
  return errors;
}

/** Broken rules of a map of labels. */
export function validateLabelMap(labels: Readonly<Record<string, string>>, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(labels)) {
    for (const m of isQualifiedName(key)) errors.push(invalid(path, key, m));
    for (const m of isValidLabelValue(value)) errors.push(invalid(path, value, m));
  }
  return errors;
}

/** Whether a selector has no requirement at all, so that it selects everything. */
export function isEmptySelector(selector: LabelSelector): boolean {
  return Object.keys(selector.matchLabels ?? {}).length === 0 && (selector.matchExpressions ?? []).length === 0;
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
  for (const m of isQualifiedName(requirement.key)) errors.push(invalid(path.child('key'), requirement.key, m));
  values.forEach((value, i) => {
    for (const m of isValidLabelValue(value)) errors.push(invalid(path.child('values').index(i), value, m));
  });
}
