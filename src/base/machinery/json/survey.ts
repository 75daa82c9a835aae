import { ExactNumber } from './exact-numbers.js';
import { maxDepth } from './nesting.js';
import { NestingError } from './nesting-error.js';

/** What a single pass over the bytes of JSON text finds before the text is parsed. */
export interface JsonSurvey {
  /** The number of keys in all objects, duplicates included. */
  readonly keys: number;
  /** Whether there may be numbers that {@link parseExactJson} preserves and JSON.parse does not. */
  readonly mayHaveExactNumbers: boolean;
}

const quote = 0x22;
const plus = 0x2b;
const minus = 0x2d;
const point = 0x2e;
const zero = 0x30;
const nine = 0x39;
const colon = 0x3a;
const upperE = 0x45;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const lowerE = 0x65;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const space = 0x20;
/** Whole numbers with fewer digits are exact. */
const safeDigits = 15;

/**
 * Looks at every byte of JSON text once, which costs a fraction of parsing it. The result means nothing for invalid
 * JSON.
 *
 * @throws NestingError for text that is nested more deeply than any object may be
 */
export function surveyJson(bytes: Uint8Array): JsonSurvey {
  const { length } = bytes;
  let keys = 0;
  let depth = 0;
  let mayHaveExactNumbers = false;
  for (let i = 0; i < length; i++) {
    const byte = bytes[i] as number;
    if (byte === quote) {
      i = endOfString(bytes, i);
      let next = i + 1;
      while ((bytes[next] as number) <= space) next++;
      if (bytes[next] === colon) keys++;
    } else if (byte === openBrace || byte === openBracket) {
      if (++depth > maxDepth) throw new NestingError();
    } else if (byte === closeBrace || byte === closeBracket) {
      depth--;
    } else if (byte === minus || (byte >= zero && byte <= nine)) {
      const end = endOfNumber(bytes, i);
      // A number outside of any array or object needs no check: the caller rejects it.
      if (depth > 0 && needsCare(bytes, i, end)) mayHaveExactNumbers = true;
      i = end - 1;
    }
  }
  return { keys, mayHaveExactNumbers };
}

/** Index of the quote that ends the string starting at `start`, or the end of the text. */
function endOfString(bytes: Uint8Array, start: number): number {
  let i = start + 1;
  for (let byte = bytes[i]; byte !== quote && byte !== undefined; byte = bytes[i]) i += byte === backslash ? 2 : 1;
  return i;
}

function endOfNumber(bytes: Uint8Array, start: number): number {
  let i = start;
  while (isNumeric(bytes[i])) i++;
  return i;
}

function isNumeric(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  if (byte >= zero && byte <= nine) return true;
  return byte === point || byte === lowerE || byte === upperE || byte === minus || byte === plus;
}

function needsCare(bytes: Uint8Array, start: number, end: number): boolean {
  const first = bytes[start] === minus ? start + 1 : start;
  if (end - first > safeDigits || (first > start && bytes[first] === zero)) return true;
  for (let i = first; i < end; i++) {
    const byte = bytes[i] as number;
    if (byte < zero || byte > nine) return true;
  }
  return false;
}

/** The number of keys in all objects of a parsed value: as many as in its text, unless that had duplicates. */
export function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const element of value) if (typeof element === 'object') count += countKeys(element);
    return count;
  }
  for (const key in value) {
    count++;
    const member = (value as Record<string, unknown>)[key];
    if (typeof member === 'object') count += countKeys(member);
  }
  return count;
}
