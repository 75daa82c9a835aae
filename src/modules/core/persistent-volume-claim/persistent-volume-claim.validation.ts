import type { PersistentVolumeClaim } from '../../../apis/core/v1/persistent-volume-claim.types.js';
import type { FieldError } from '../../../machinery/field-error.js';
import type { VendorNames } from '../../../machinery/vendor.js';

/** Broken rules of a new claim. */
export function validatePersistentVolumeClaim(_object: PersistentVolumeClaim): FieldError[] {
  return [];
}

/** Broken rules of a changed claim. */
export function validatePersistentVolumeClaimUpdate(
  object: PersistentVolumeClaim,
  _old: PersistentVolumeClaim,
  _names: VendorNames,
): FieldError[] {
  return validatePersistentVolumeClaim(object);
}

/** Broken rules of the observed part. */
export function validatePersistentVolumeClaimStatus(_object: PersistentVolumeClaim): FieldError[] {
  return [];
}
