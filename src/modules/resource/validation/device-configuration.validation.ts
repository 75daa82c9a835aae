import { type FieldError, type FieldPath, required, tooLong } from '../../../base/machinery/field-error.js';
import type { DeviceConfiguration } from '../../../objects/apis/resource/v1/device-selector.types.js';
import { validateDeclaredDriverName } from './device-names.validation.js';

const maxParametersLength = 10 * 1024;

/**
 * Broken rules of settings for devices.
 *
 * @param isStored they were stored before: how long they may be is not looked at
 */
export function validateDeviceConfiguration(
  { opaque }: DeviceConfiguration,
  path: FieldPath,
  isStored = false,
): FieldError[] {
  const at = path.child('opaque');
  if (opaque === undefined) return [required(at)];
  return [
    ...validateDeclaredDriverName(opaque.driver, at.child('driver')),
    ...validateRawObject(
      opaque.parameters,
      at.child('parameters'),
      isStored ? Number.POSITIVE_INFINITY : maxParametersLength,
    ),
  ];
}

/** Broken rules of an object that only a driver reads. */
export function validateRawObject(object: unknown, path: FieldPath, maxLength: number): FieldError[] {
  if (object === null || object === undefined) return [required(path)];
  return Buffer.byteLength(JSON.stringify(object)) > maxLength ? [tooLong(path, maxLength)] : [];
}
