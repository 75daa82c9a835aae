import { type FieldError, type FieldPath, invalid, required, tooLong } from '../../../base/machinery/field-error.js';
import { isObject } from '../../../base/machinery/patch/json-value.js';
import type { DeviceConfiguration } from '../../../objects/apis/resource/v1/device-selector.types.js';
import { validateDeclaredDriverName } from './device-names.validation.js';

const maxParametersLength = 10 * 1024;

/**
 * Validates settings for devices.
 *
 * @param isStored whether they were stored before: then their length is not checked
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

/** Validates an object that only a driver reads. */
export function validateRawObject(object: unknown, path: FieldPath, maxLength: number): FieldError[] {
  if (object === null || object === undefined) return [required(path)];
  if (Buffer.byteLength(JSON.stringify(object)) > maxLength) return [tooLong(path, maxLength)];
  return isObject(object) ? [] : [invalid(path, '<value omitted>', 'must be a valid JSON object')];
}
