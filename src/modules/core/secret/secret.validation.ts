import { isDeepStrictEqual } from 'node:util';
import {
  type FieldError,
  FieldPath,
  forbidden,
  invalid,
  required,
  tooLong,
} from '../../../base/machinery/field-error.js';
import { isConfigMapKey } from '../../../base/machinery/names.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { Secret } from '../../../objects/apis/core/v1/secret.types.js';
import { validateBootstrapToken } from './bootstrap-token.validation.js';

const maxEntryBytes = 1024 * 1024;
const dataPath = FieldPath.of('data');
const typePath = FieldPath.of('type');
const immutablePath = FieldPath.of('immutable');
const annotationsPath = FieldPath.of('metadata', 'annotations');
const immutableDetail = 'field is immutable when `immutable` is set';
const redacted = '<secret contents redacted>';

/** Validates a Secret: key syntax, total size, and the entries that its type needs. */
export function validateSecret(object: Secret, names: VendorNames): FieldError[] {
  const errors: FieldError[] = [];
  const data = object.data ?? {};
  let size = 0;
  for (const [key, value] of Object.entries(data)) {
    for (const message of isConfigMapKey(key)) errors.push(invalid(dataPath.key(key), key, message));
    // An entry may be null.
    size += Buffer.byteLength(value ?? '', 'base64');
  }
  if (size > maxEntryBytes) errors.push(tooLong(dataPath, maxEntryBytes));
  validateByType(object, data, names, errors);
  return errors;
}

function validateByType(object: Secret, data: Record<string, string>, names: VendorNames, errors: FieldError[]): void {
  const requireKeys = (...keys: readonly string[]): void => {
    for (const key of keys) if (!Object.hasOwn(data, key)) errors.push(required(dataPath.key(key)));
  };
  switch (object.type) {
    case names.serviceAccountTokenSecretType: {
      const annotation = names.serviceAccountNameAnnotation;
      if (!object.metadata.annotations?.[annotation]) errors.push(required(annotationsPath.key(annotation)));
      break;
    }
    case names.bootstrapTokenSecretType:
      // In another namespace the secret is not a token.
      if (object.metadata.namespace === names.systemNamespace) errors.push(...validateBootstrapToken(object));
      break;
    case `${names.secretTypePrefix}/dockercfg`:
      validateJsonEntry('.dockercfg', data, errors);
      break;
    case `${names.secretTypePrefix}/dockerconfigjson`:
      validateJsonEntry('.dockerconfigjson', data, errors);
      break;
    case `${names.secretTypePrefix}/basic-auth`:
      // One of `username` and `password` is enough.
      if (!Object.hasOwn(data, 'username') && !Object.hasOwn(data, 'password')) requireKeys('username', 'password');
      break;
    case `${names.secretTypePrefix}/ssh-auth`:
      requireKeys('ssh-privatekey');
      break;
    case `${names.secretTypePrefix}/tls`:
      requireKeys('tls.crt', 'tls.key');
      break;
  }
}

function validateJsonEntry(key: string, data: Record<string, string>, errors: FieldError[]): void {
  const path = dataPath.key(key);
  const value = data[key];
  if (value === undefined) {
    errors.push(required(path));
    return;
  }
  const problem = jsonObjectProblem(Buffer.from(value ?? '', 'base64').toString());
  if (problem !== undefined) errors.push(invalid(path, redacted, problem));
}

/** The reason why a string is not a JSON object. It shows no part of the string, which is secret. */
function jsonObjectProblem(text: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return isTruncated(text) ? 'unexpected end of JSON input' : 'invalid JSON';
  }
  if (value === null || (typeof value === 'object' && !Array.isArray(value))) return undefined;
  const kind = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  return `json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`;
}

/** Whether a string that is not JSON could be the beginning of JSON: its brackets and strings are still open. */
function isTruncated(text: string): boolean {
  let depth = 0;
  let isInString = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (isInString) {
      if (c === '\\') i++;
      else if (c === '"') isInString = false;
    } else if (c === '"') isInString = true;
    else if (c === '{' || c === '[') depth++;
    else if (c === '}' || c === ']') depth--;
  }
  return isInString || depth > 0 || text.trim() === '';
}

/** Validates a changed Secret. The type must not change, nor the entries once `immutable` is set. */
export function validateSecretUpdate(object: Secret, old: Secret, names: VendorNames): FieldError[] {
  const errors: FieldError[] = [];
  if (object.type !== old.type) errors.push(invalid(typePath, object.type, 'field is immutable'));
  if (old.immutable === true) {
    if (object.immutable !== true) errors.push(forbidden(immutablePath, immutableDetail));
    if (!isDeepStrictEqual(object.data ?? {}, old.data ?? {})) errors.push(forbidden(dataPath, immutableDetail));
  }
  errors.push(...validateSecret(object, names));
  return errors;
}
