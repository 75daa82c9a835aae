import type { PersistentVolume } from '../../../apis/core/v1/persistent-volume.types.js';
import type { FieldError } from '../../../machinery/field-error.js';

/** Broken rules of a new volume. */
export function validatePersistentVolume(_object: PersistentVolume): FieldError[] {
  return [];
}

/** Broken rules of a changed volume. */
export function validatePersistentVolumeUpdate(object: PersistentVolume, _old: PersistentVolume): FieldError[] {
  return validatePersistentVolume(object);
}
