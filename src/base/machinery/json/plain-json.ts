import { ValueFormatError } from '../values/value-format-error.js';
import { ExactNumber } from './exact-numbers.js';

/**
 * Converts JSON to a form that every client reads alike. Clients in Go read a whole number as a 64-bit integer where it
 * fits, any other number as a double, and refuse numbers too large for a double; their strings are UTF-8, so they read
 * a lone surrogate as U+FFFD. Stored values are written that way: whole numbers in digits, other numbers in the
 * shortest form of the double.
 */

/** The treatment of a number too large for a double: refused, or replaced by the largest double. */
export type BeyondDoubles = 'refuse' | 'clamp';

/**
 * A copy of a JSON value that every client reads alike, with numbers that JSON.stringify writes as others read them.
 * Unchanged parts are shared with the input. If two keys become the same, the last one counts.
 *
 * @throws ValueFormatError for a number too large for a double, if such numbers are refused
 */
export function plainJson(value: unknown, beyond: BeyondDoubles = 'refuse'): unknown {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? value : value.toWellFormed();
    case 'number':
      return Number.isFinite(value) ? value : beyondDoubles(value, String(value), beyond);
    case 'bigint':
      return plainInteger(value);
    case 'object':
      if (value === null) return value;
      if (value instanceof ExactNumber) return plainNumber(value, beyond);
      return Array.isArray(value) ? plainList(value, beyond) : plainObject(value as Record<string, unknown>, beyond);
  }
  return value;
}

/** {@link plainJson} of a value that is neither an object nor a list. */
export function plainScalar(value: unknown): unknown {
  return typeof value === 'object' && !(value instanceof ExactNumber) ? value : plainJson(value);
}

/** A string in the form that every client reads alike. */
export function plainText(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed();
}

function plainInteger(value: bigint): unknown {
  if (BigInt.asIntN(64, value) !== value) return Number(value);
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

function plainNumber(value: ExactNumber, beyond: BeyondDoubles): number {
  const number = value.valueOf();
  if (!Number.isFinite(number)) return beyondDoubles(number, value.text, beyond);
  // A negative zero is written as a zero.
  return number === 0 ? 0 : number;
}

/** The most digits of a number that a message shows. */
const shownDigits = 100;

function beyondDoubles(value: number, text: string, beyond: BeyondDoubles): number {
  if (beyond === 'clamp' && !Number.isNaN(value)) return Math.sign(value) * Number.MAX_VALUE;
  const shown = text.length <= shownDigits ? text : `${text.slice(0, shownDigits)}...`;
  throw new ValueFormatError(`the number ${shown} is beyond the numbers of 64 bits`);
}

function plainList(list: readonly unknown[], beyond: BeyondDoubles): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let i = 0; i < list.length; i++) {
    const item = list[i];
    const plain = plainJson(item, beyond);
    if (copy === undefined && !Object.is(plain, item)) copy = list.slice(0, i);
    copy?.push(plain);
  }
  return copy ?? list;
}

function plainObject(object: Record<string, unknown>, beyond: BeyondDoubles): Record<string, unknown> {
  let differs = false;
  const members: [string, unknown][] = [];
  for (const key of Object.keys(object)) {
    const member = object[key];
    const plain = plainJson(member, beyond);
    const name = plainText(key);
    if (name !== key || !Object.is(plain, member)) differs = true;
    members.push([name, plain]);
  }
  // Unlike an assignment, this also creates a member for the key `__proto__`.
  return differs ? Object.fromEntries(members) : object;
}

/** Matches an escaped surrogate in JSON text. JSON.stringify escapes only lone surrogates. */
const surrogateEscape = /(?<!\\)(?:\\\\)*\\u[dD][89a-fA-F]/;

export function hasSurrogateEscape(text: string): boolean {
  return (text.includes('\\ud') || text.includes('\\uD')) && surrogateEscape.test(text);
}
