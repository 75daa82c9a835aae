import { type FieldError, type FieldPath, invalid, required } from '../../base/machinery/field-error.js';
import type { LabelSelector } from '../../objects/apis/meta/v1/selector.types.js';
import {
  isEmptySelector,
  validateLabelSelector,
} from '../../objects/apis/meta/v1/validation/label-selector.validation.js';

/** Validates the selector of a kind that owns pods; a selector that selects everything is refused. */
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

/** Whether a selector can be used at all; reports an unusable one. A missing selector is usable: it selects nothing. */
export function checkSelectorUsable(
  selector: LabelSelector | null,
  detail: string,
  path: FieldPath,
  errors: FieldError[],
): boolean {
  if (validateLabelSelector(selector, path).length === 0) return true;
  errors.push(invalid(path, selector, detail));
  return false;
}
