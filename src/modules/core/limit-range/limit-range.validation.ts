import type { LimitRange } from '../../../apis/core/v1/limit-range.types.js';
import type { FieldError } from '../../../machinery/field-error.js';
import type { VendorNames } from '../../../machinery/vendor.js';

/** Broken rules of a limit range. */
export function validateLimitRange(_object: LimitRange, _names: VendorNames): FieldError[] {
  return [];
}
