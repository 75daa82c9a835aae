import { ExactNumber } from '../../../base/machinery/json/exact-numbers.js';
import { plainScalar, plainText } from '../../../base/machinery/json/plain-json.js';

/** An object of JSON, as opposed to a list, a number in its own spelling, or null. */
export type JsonRecord = Record<string, unknown>;

/** Whether a JSON value is an object. */
export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
}

/** Sets a member; `__proto__` becomes an ordinary member, too. */
export function setMember(object: JsonRecord, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

/** The keys of an object in their stored order. Costs little when they are in order already. */
export function sortedKeys(object: JsonRecord): string[] {
  const keys = Object.keys(object);
  for (let i = 1; i < keys.length; i++) if ((keys[i] as string) < (keys[i - 1] as string)) return keys.sort();
  return keys;
}

/** A deep copy of a JSON value with its keys in order, as every client reads it: see {@link plainScalar}. */
export function sortedCopy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedCopy);
  if (!isRecord(value)) return plainScalar(value);
  const copy: JsonRecord = {};
  for (const key of sortedKeys(value)) setMember(copy, plainText(key), sortedCopy(value[key]));
  return copy;
}
