import type { LabelSelector } from '../../apis/meta/v1/selector.types.js';
import { isEmptySelector, validateLabelSelector } from '../../apis/meta/v1/validation/label-selector.validation.js';
import { type FieldError, type FieldPath, invalid, required } from '../../machinery/field-error.js';

/** Broken rules of the selector of a kind that owns pods; one that selects everything is none. */
export function validateOwnSelector(
  selector: LabelSelector | null,
  kind: string,
  path: FieldPath,
  errors: FieldError[],
): void {
  if (selector === null) {
    errors.push(required(path));
    return;
  }
  errors.push(...validateLabelSelector(selector, path));
  if (isEmptySelector(selector)) errors.push(invalid(path, selector, `empty selector is invalid for ${kind}`));
}
