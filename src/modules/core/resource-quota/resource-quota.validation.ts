import type { ResourceQuota } from '../../../apis/core/v1/resource-quota.types.js';
import type { FieldError } from '../../../machinery/field-error.js';
import type { VendorNames } from '../../../machinery/vendor.js';

/** Broken rules of a new quota. */
export function validateResourceQuota(_object: ResourceQuota, _names: VendorNames): FieldError[] {
  return [];
}

/** Broken rules of a changed quota. */
export function validateResourceQuotaUpdate(
  object: ResourceQuota,
  _old: ResourceQuota,
  names: VendorNames,
): FieldError[] {
  return validateResourceQuota(object, names);
}

/** Broken rules of the observed part. */
export function validateResourceQuotaStatus(_object: ResourceQuota, _names: VendorNames): FieldError[] {
  return [];
}
