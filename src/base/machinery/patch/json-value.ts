import { ExactNumber, sameNumberText } from '../json/exact-numbers.js';

/** A parsed JSON object. Read arbitrary keys with {@link getOwn}: `constructor` is a valid key of a map. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
}

/** The value of an own key; never an inherited one. */
export function getOwn(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Sets an own key, even `__proto__`, which an assignment would treat as the prototype. */
export function setOwn(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    object[key] = value;
  }
}

/** Structural equality of JSON values. A key with the value undefined counts as absent; `1.0` differs from `1`. */
export function deepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return sameNumberText(a, b);
  if (a instanceof ExactNumber || b instanceof ExactNumber) return sameNumberText(a, b);
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!deepEqual(a[i], b[i])) return false;
    return true;
  }
  return !Array.isArray(b) && equalObjects(a as JsonObject, b as JsonObject);
}

function equalObjects(a: JsonObject, b: JsonObject): boolean {
  let common = 0;
  for (const key in a) {
    const value = a[key];
    if (value === undefined) continue;
    if (!Object.hasOwn(b, key) || !deepEqual(value, b[key])) return false;
    common++;
  }
  for (const key in b) if (b[key] !== undefined) common--;
  return common === 0;
}
