import { type FieldError, type FieldPath, invalid, tooLong } from './field-error.js';
import { isQualifiedName, isValidLabelValue } from './names.js';

const maxAnnotationBytes = 256 * 1024;

/** Broken rules of a label map: qualified keys, valid values. */
export function validateLabels(labels: Readonly<Record<string, string>> | undefined, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (labels === undefined) return errors;
  for (const key of Object.keys(labels)) {
    const value = labels[key] as string;
    for (const m of isQualifiedName(key)) errors.push(invalid(path, key, m));
    for (const m of isValidLabelValue(value)) errors.push(invalid(path, value, m));
  }
  return errors;
}

/** Broken rules of annotations: qualified keys, 256 KiB in all. */
export function validateAnnotations(
  annotations: Readonly<Record<string, string>> | undefined,
  path: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  if (annotations === undefined) return errors;
  let total = 0;
  for (const key of Object.keys(annotations)) {
    for (const m of isQualifiedName(key.toLowerCase())) errors.push(invalid(path, key, m));
    total += Buffer.byteLength(key) + Buffer.byteLength(annotations[key] as string);
  }
  if (total > maxAnnotationBytes) errors.push(tooLong(path, maxAnnotationBytes));
  return errors;
}

/** Broken rules of one label key. */
export function validateLabelName(key: string, path: FieldPath): FieldError[] {
  return isQualifiedName(key).map((m) => invalid(path, key, m));
}
