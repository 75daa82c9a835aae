import { compareBytewise } from '../../../base/machinery/compare-bytewise.js';
import type { Budget } from '../budget.js';
import { Span, Timestamp } from './time.js';
import {
  type CelJsonObject,
  CombiningList,
  isList,
  isMap,
  LazyObject,
  listItem,
  listSize,
  MapValue,
  MessageValue,
  mapGet,
  mapKeys,
  mapSize,
  OpaqueValue,
  OptionalValue,
  TypeValue,
  Uint,
  type Value,
} from './value.js';

/**
 * Whether two values are equal. Numbers of different types can be equal; other values of different types are not.
 * Charges for size.
 */
export function equals(a: Value, b: Value, budget: Budget): boolean {
  if (typeof a === 'string') {
    if (typeof b !== 'string') return false;
    budget.chargeText(Math.min(a.length, b.length));
    return a === b;
  }
  if (a === b) return true;
  if (a === null || b === null || typeof a === 'boolean' || typeof b === 'boolean') return false;
  if (isNumber(a)) return isNumber(b) && compareNumbers(a, b) === 0;
  if (typeof b !== 'object' || isNumber(b)) return false;
  budget.charge(1);
  if (isList(a)) return isList(b) && listsEqual(a, b, budget);
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0;
  if (a instanceof Timestamp) return b instanceof Timestamp && a.nanoseconds === b.nanoseconds;
  if (a instanceof Span) return b instanceof Span && a.nanoseconds === b.nanoseconds;
  if (a instanceof TypeValue) return b instanceof TypeValue && a.name === b.name;
  if (a instanceof OpaqueValue) return b instanceof OpaqueValue && a.typeName === b.typeName && a.equals(b);
  if (a instanceof MessageValue) return b instanceof MessageValue && messagesEqual(a, b, budget);
  if (a instanceof OptionalValue) {
    if (!(b instanceof OptionalValue)) return false;
    if (a.value === undefined || b.value === undefined) return a.value === b.value;
    return equals(a.value, b.value, budget);
  }
  if (a instanceof LazyObject) return b instanceof LazyObject && a.equals(b, budget);
  return isMap(a) && isMap(b) && mapsEqual(a, b, budget);
}

function listsEqual(a: Parameters<typeof listSize>[0], b: Parameters<typeof listSize>[0], budget: Budget): boolean {
  if (a instanceof CombiningList) return a.equalTo(b, budget);
  const size = listSize(a);
  if (size !== listSize(b)) return false;
  for (let i = 0; i < size; i++) {
    budget.charge(1);
    if (!equals(listItem(a, i), listItem(b, i), budget)) return false;
  }
  return true;
}

function mapsEqual(a: MapValue | CelJsonObject, b: MapValue | CelJsonObject, budget: Budget): boolean {
  const size = mapSize(a);
  budget.charge(1 + size);
  if (size !== mapSize(b)) return false;
  for (const key of mapKeys(a)) {
    budget.charge(2);
    const other = mapGet(b, key);
    if (other === undefined || !equals(mapGet(a, key) as Value, other, budget)) return false;
  }
  return true;
}

function messagesEqual(a: MessageValue, b: MessageValue, budget: Budget): boolean {
  if (a.typeName !== b.typeName || a.fields.size !== b.fields.size) return false;
  for (const [name, value] of a.fields) {
    budget.charge(1);
    const other = b.fields.get(name);
    if (other === undefined || !equals(value, other, budget)) return false;
  }
  return true;
}

/** Whether a value is an int, a uint or a double. */
export function isNumber(value: Value): value is bigint | number | Uint {
  return typeof value === 'bigint' || typeof value === 'number' || value instanceof Uint;
}

/** Negative, zero or positive; NaN if either number is NaN. Exact across types. */
export function compareNumbers(a: bigint | number | Uint, b: bigint | number | Uint): number {
  const left = a instanceof Uint ? a.value : a;
  const right = b instanceof Uint ? b.value : b;
  if (left < right) return -1;
  if (left > right) return 1;
  // biome-ignore lint/suspicious/noDoubleEquals: a bigint and a number with the same value
  return left == right ? 0 : Number.NaN;
}

/** Order of two values of a type that has one; undefined for all others. */
export function compareCelValues(a: Value, b: Value, budget: Budget): number | undefined {
  if (isNumber(a)) return isNumber(b) ? compareNumbers(a, b) : undefined;
  if (typeof a === 'string') {
    if (typeof b !== 'string') return undefined;
    budget.chargeText(Math.min(a.length, b.length));
    return compareBytewise(a, b);
  }
  if (typeof a === 'boolean') return typeof b === 'boolean' ? Number(a) - Number(b) : undefined;
  if (a instanceof Timestamp) return b instanceof Timestamp ? Number(a.nanoseconds - b.nanoseconds) : undefined;
  if (a instanceof Span) return b instanceof Span ? Number(a.nanoseconds - b.nanoseconds) : undefined;
  if (a instanceof Uint8Array) return b instanceof Uint8Array ? Buffer.compare(a, b) : undefined;
  return undefined;
}
