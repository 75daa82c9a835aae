import { checkNesting } from './nesting.js';

/**
 * Numbers of JSON text that a JavaScript number can't carry as they are written. Whole numbers beyond 2^53 - 1 become
 * bigints; anything else whose spelling a number would lose (`1.0`, `1e3`, `-0`, more digits than a double has) becomes an
 * {@link ExactNumber}. JSON.stringify writes both as they were.
 */

/** JSON.rawJSON, which the compiler's library does not know yet. */
const rawJson = (JSON as unknown as { readonly rawJSON: (text: string) => unknown }).rawJSON;

let exactNumbersWritten = 0;

/** A number in the spelling of the text it came from. Compare with {@link sameNumberText}, not with `===`. */
export class ExactNumber {
  constructor(readonly text: string) {}

  /** What JSON.stringify asks for. */
  toJSON(): unknown {
    exactNumbersWritten++;
    return rawJson(this.text);
  }

  /** The nearest number, for comparisons and arithmetic. */
  valueOf(): number {
    return Number(this.text);
  }

  toString(): string {
    return this.text;
  }
}

// Without this JSON.stringify refuses bigints. The API has numbers of 64 bits, and JSON does not limit them.
Object.defineProperty(BigInt.prototype, 'toJSON', {
  value(this: bigint): unknown {
    exactNumbersWritten++;
    return rawJson(this.toString());
  },
  writable: true,
  configurable: true,
});

/** Whether two values are the same number in the same spelling; false for values that are no numbers. */
export function sameNumberText(a: unknown, b: unknown): boolean {
  return isNumeric(a) && isNumeric(b) && String(a) === String(b);
}

function isNumeric(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'bigint' || value instanceof ExactNumber;
}

/** The nearest number of an {@link ExactNumber}; any other value as it is. */
export function nearestNumber(value: unknown): unknown {
  return value instanceof ExactNumber ? value.valueOf() : value;
}

/**
 * Where text of a number with 16 digits or more, a fraction, an exponent, or a negative zero may begin. Also matches in
 * some strings, which costs time but changes nothing.
 */
const exactNumberStart = /(?:"\s*:|[,[])\s*-?(?:\d{16}|\d+[.eE]|(?<=-)0)/;

/** Whether JSON text may have numbers that {@link parseExactJson} keeps and JSON.parse does not. */
export function mayHaveExactNumbers(text: string): boolean {
  return exactNumberStart.test(text);
}

/**
 * Parses JSON text of any origin and keeps its numbers; as fast as JSON.parse where none needs care. Throws its errors, and
 * a NestingError.
 */
export function parseJson(text: string): unknown {
  checkNesting(text);
  const value = JSON.parse(text) as unknown;
  return mayHaveExactNumbers(text) ? parseExactJson(text, value) : value;
}

type Reviver = (this: unknown, key: string, value: unknown, context: { readonly source: string }) => unknown;

/** JSON.parse that keeps all numbers; several times slower. `plain` is what to answer for text nested too deep to revive. */
export function parseExactJson(text: string, plain?: unknown): unknown {
  try {
    return JSON.parse(text, keepNumber as (key: string, value: unknown) => unknown);
  } catch (error) {
    // The reviver recurses, the parser does not: whoever decodes the value refuses such nesting anyway.
    if (error instanceof RangeError && plain !== undefined) return plain;
    throw error;
  }
}

const wholeNumber = /^-?\d+$/;
/** Longer ones are data that no field takes, and slow to make into a bigint. */
const maxBigintDigits = 64;

const keepNumber: Reviver = (_key, value, context) => {
  if (typeof value !== 'number') return value;
  const { source } = context;
  const isBig = !Number.isSafeInteger(value) && wholeNumber.test(source);
  if (isBig && source.length <= maxBigintDigits) return BigInt(source);
  return !isBig && String(value) === source ? value : new ExactNumber(source);
};

/** JSON text of a value, and whether it has numbers that only {@link parseExactJson} keeps. */
export function stringifyNoting(value: unknown): { readonly text: string; readonly hasExactNumbers: boolean } {
  const before = exactNumbersWritten;
  const text = JSON.stringify(value);
  return { text, hasExactNumbers: exactNumbersWritten !== before };
}

/** A deep copy of a JSON value; numbers keep their spelling, which structuredClone would lose. */
export function cloneJson<T>(value: T): T {
  return clone(value) as T;
}

function clone(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return value;
  if (Array.isArray(value)) return value.map(clone);
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const member = clone((value as Record<string, unknown>)[key]);
    if (key !== '__proto__') copy[key] = member;
    else Object.defineProperty(copy, key, { value: member, enumerable: true, configurable: true, writable: true });
  }
  return copy;
}
