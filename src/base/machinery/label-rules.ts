import { type FieldError, type FieldPath, invalid, tooLong } from './field-error.js';
import { isQualifiedName, isValidLabelValue } from './names.js';

const maxAnnotationBytes = 256 * 1024;
/** Every selector reads labels; this limit is far above normal use. */
const maxLabelBytes = 256 * 1024;

/** Violated rules of a label map: qualified keys, valid values, 256 KiB in total. */
export function validateLabels(labels: Readonly<Record<string, string>> | undefined, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (labels === undefined) return errors;
  const keys = Object.keys(labels);
  if (isTooLong(keys, labels, maxLabelBytes)) return [tooLong(path, maxLabelBytes)];
  for (const key of keys) {
    const value = labels[key] as string;
    for (const m of isQualifiedName(key)) errors.push(invalid(path, key, m));
    for (const m of isValidLabelValue(value)) errors.push(invalid(path, value, m));
  }
  return errors;
}

/** Violated rules of annotations: qualified keys, 256 KiB in total. */
export function validateAnnotations(
  annotations: Readonly<Record<string, string>> | undefined,
  path: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  if (annotations === undefined) return errors;
  const keys = Object.keys(annotations);
  const isLong = isTooLong(keys, annotations, maxAnnotationBytes);
  // An oversized map may have very many keys; nobody would read errors about each key.
  if (!isLong || keys.length <= maxCheckedKeys) {
    for (const key of keys) for (const m of isQualifiedName(key.toLowerCase())) errors.push(invalid(path, key, m));
  }
  if (isLong) errors.push(tooLong(path, maxAnnotationBytes));
  return errors;
}

const maxCheckedKeys = 100;

/** Whether keys and values together exceed the limit; stops as soon as that is known. */
function isTooLong(keys: readonly string[], map: Readonly<Record<string, string>>, limit: number): boolean {
  let total = 0;
  for (const key of keys) {
    total += Buffer.byteLength(key) + Buffer.byteLength(map[key] as string);
    if (total > limit) return true;
  }
  return false;
}

/** Violated rules of one label key. */
export function validateLabelName(key: string, path: FieldPath): FieldError[] {
  return isQualifiedName(key).map((m) => invalid(path, key, m));
}
