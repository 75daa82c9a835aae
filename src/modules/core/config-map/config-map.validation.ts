import { isDeepStrictEqual } from 'node:util';
import {
  type FieldError,
  FieldPath,
  forbidden,
  invalid,
  rootPath,
  tooLong,
} from '../../../base/machinery/field-error.js';
import { isConfigMapKey } from '../../../base/machinery/names.js';
import type { ConfigMap } from '../../../objects/apis/core/v1/config-map.types.js';

/** Most bytes of all entries of a ConfigMap or Secret together. */
export const maxEntryBytes = 1024 * 1024;

const dataPath = FieldPath.of('data');
const binaryDataPath = FieldPath.of('binaryData');
const immutablePath = FieldPath.of('immutable');
const immutableDetail = 'field is immutable when `immutable` is set';

/** Validates a ConfigMap: key syntax, no key in both maps, total size. */
export function validateConfigMap(object: ConfigMap): FieldError[] {
  const errors: FieldError[] = [];
  const data = object.data ?? {};
  const binaryData = object.binaryData ?? {};
  let size = 0;
  for (const [key, value] of Object.entries(data)) {
    for (const message of isConfigMapKey(key)) errors.push(invalid(dataPath.key(key), key, message));
    if (Object.hasOwn(binaryData, key)) {
      errors.push(invalid(dataPath.key(key), key, 'duplicate of key present in binaryData'));
    }
    size += Buffer.byteLength(value);
  }
  for (const [key, value] of Object.entries(binaryData)) {
    for (const message of isConfigMapKey(key)) errors.push(invalid(binaryDataPath.key(key), key, message));
    // An entry may be null.
    size += Buffer.byteLength(value ?? '', 'base64');
  }
  if (size > maxEntryBytes) errors.push(tooLong(rootPath, maxEntryBytes));
  return errors;
}

/** Validates a changed ConfigMap. Once `immutable` is set, neither it nor the entries may change. */
export function validateConfigMapUpdate(object: ConfigMap, old: ConfigMap): FieldError[] {
  const errors: FieldError[] = [];
  if (old.immutable === true) {
    if (object.immutable !== true) errors.push(forbidden(immutablePath, immutableDetail));
    if (!isDeepStrictEqual(object.data ?? {}, old.data ?? {})) errors.push(forbidden(dataPath, immutableDetail));
    if (!isDeepStrictEqual(object.binaryData ?? {}, old.binaryData ?? {})) {
      errors.push(forbidden(binaryDataPath, immutableDetail));
    }
  }
  errors.push(...validateConfigMap(object));
  return errors;
}
