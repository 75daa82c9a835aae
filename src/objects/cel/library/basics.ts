import { CelError } from '../cel-error.js';
import type { LibraryBuilder, OverloadCode } from '../function-table.js';
import { type CelType, listOf, mapOf, optionalOf, types } from '../values/cel-type.js';
import { equals } from '../values/equality.js';
import { localTime, type Span, type Timestamp } from '../values/time.js';
import {
  isJsonObject,
  isList,
  isMap,
  type ListValue,
  listSize,
  type MapValue,
  mapSize,
  OptionalValue,
  Uint,
  type Value,
} from '../values/value.js';

const { a, b, bool, bytes, duration, int, string, timestamp } = types;

/** Number of code points. */
export function textLength(text: string): number {
  let length = text.length;
  for (let i = 0; i < text.length - 1; i++) {
    if ((text.charCodeAt(i) & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) {
      length--;
      i++;
    }
  }
  return length;
}

/** Sizes, simple tests of strings, parts of times, and optional values. */
export function basics(library: LibraryBuilder): void {
  const sizes: readonly [CelType, (value: never) => number][] = [
    [string, (text: string) => textLength(text)],
    [bytes, (value: Uint8Array) => value.length],
    [listOf(a), (list: ListValue) => listSize(list)],
    [mapOf(a, b), (map: MapValue) => mapSize(map)],
  ];
  for (const [of, size] of sizes) {
    const run: OverloadCode = ({ budget }, value) => {
      if (typeof value === 'string') budget.chargeText(value.length);
      const length = size(value as never);
      // The keys of a plain object have to be listed to be counted.
      if (isJsonObject(value)) budget.charge(length * 2);
      return BigInt(length);
    };
    library.fn('size', [of], int, run).method('size', [of], int, run);
  }
  library
    .method('contains', [string, string], bool, ({ budget }, text: string, part: string) => {
      budget.charge(Math.ceil(text.length * 0.1) * Math.max(1, Math.ceil(part.length * 0.1)));
      return text.includes(part);
    })
    .method('startsWith', [string, string], bool, ({ budget }, text: string, part: string) => {
      budget.chargeText(part.length);
      return text.startsWith(part);
    })
    .method('endsWith', [string, string], bool, ({ budget }, text: string, part: string) => {
      budget.chargeText(part.length);
      return text.endsWith(part);
    });
  times(library);
  optionals(library);
}

const dateParts: Readonly<Record<string, (date: Date) => number>> = {
  getFullYear: (date) => date.getUTCFullYear(),
  getMonth: (date) => date.getUTCMonth(),
  getDate: (date) => date.getUTCDate(),
  getDayOfMonth: (date) => date.getUTCDate() - 1,
  getDayOfWeek: (date) => date.getUTCDay(),
  getDayOfYear: (date) => dayOfYear(date),
  getHours: (date) => date.getUTCHours(),
  getMinutes: (date) => date.getUTCMinutes(),
  getSeconds: (date) => date.getUTCSeconds(),
  getMilliseconds: (date) => date.getUTCMilliseconds(),
};

function dayOfYear(date: Date): number {
  const start = new Date(date);
  start.setUTCMonth(0, 1);
  return Math.round((date.getTime() - start.getTime()) / 86_400_000);
}

/** Each function converts the whole duration to its unit. */
const spanParts: Readonly<Record<string, bigint>> = {
  getHours: 3_600_000_000_000n,
  getMinutes: 60_000_000_000n,
  getSeconds: 1_000_000_000n,
  getMilliseconds: 1_000_000n,
};

/** The cost of computing the local time in a named zone, which takes some microseconds. */
const zoneCost = 50;

function times(library: LibraryBuilder): void {
  for (const [name, part] of Object.entries(dateParts)) {
    library.method(name, [timestamp], int, (_, time: Timestamp) => BigInt(part(localTime(time, undefined))));
    library.method(name, [timestamp, string], int, ({ budget }, time: Timestamp, zone: string) => {
      budget.charge(zoneCost);
      return BigInt(part(localTime(time, zone)));
    });
  }
  for (const [name, unit] of Object.entries(spanParts)) {
    library.method(name, [duration], int, (_, span: Span) => span.nanoseconds / unit);
  }
}

function optionals(library: LibraryBuilder): void {
  const maybe = optionalOf(a);
  library
    .fn('optional.of', [a], maybe, (_, value: Value) => OptionalValue.of(value))
    .fn('optional.none', [], maybe, () => OptionalValue.none)
    .fn('optional.ofNonZeroValue', [a], maybe, ({ budget }, value: Value) =>
      isZero(value, (other) => equals(value, other, budget)) ? OptionalValue.none : OptionalValue.of(value),
    )
    .method('hasValue', [maybe], bool, (_, optional: OptionalValue) => optional.value !== undefined)
    .method('value', [maybe], a, (_, optional: OptionalValue) => {
      if (optional.value === undefined) throw new CelError('optional.none() dereference');
      return optional.value;
    })
    .method('or', [maybe, maybe], maybe, (_, optional: OptionalValue, other: OptionalValue) =>
      optional.value === undefined ? other : optional,
    )
    .method(
      'orValue',
      [maybe, a],
      a,
      (_, optional: OptionalValue, other: Value) => optional.value ?? nullOr(optional, other),
    );
}

/** The value of the optional, which may be null; `other` if it has none. */
function nullOr(optional: OptionalValue, other: Value): Value {
  return optional.value === undefined ? other : optional.value;
}

function isZero(value: Value, equalsTo: (other: Value) => boolean): boolean {
  if (value === null || value === false || value === '') return true;
  if (typeof value === 'bigint' || typeof value === 'number' || value instanceof Uint) return equalsTo(0n);
  if (value instanceof Uint8Array) return value.length === 0;
  if (isList(value)) return listSize(value) === 0;
  return isMap(value) && mapSize(value) === 0;
}
