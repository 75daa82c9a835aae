import { checkNesting } from './nesting.js';

/**
 * Numbers in JSON text that a JavaScript number can't represent exactly as written. Whole numbers beyond 2^53 - 1
 * become bigints. Any other number whose spelling would be lost (`1.0`, `1e3`, `-0`, more digits than a double has)
 * becomes an {@link ExactNumber}. JSON.stringify writes both in their original spelling.
 */

/** JSON.rawJSON, which the compiler's type library does not include yet. */
const rawJson = (JSON as unknown as { readonly rawJSON: (text: string) => unknown }).rawJSON;

let exactNumbersWritten = 0;

/** A number with its original spelling. Compare with {@link sameNumberText}, not with `===`. */
export class ExactNumber {
  constructor(readonly text: string) {}

  /** Called by JSON.stringify. */
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

// JSON.stringify refuses bigints without this. The API has 64-bit numbers, and JSON does not limit their size.
Object.defineProperty(BigInt.prototype, 'toJSON', {
  value(this: bigint): unknown {
    exactNumbersWritten++;
    return rawJson(this.toString());
  },
  writable: true,
  configurable: true,
});

/** Whether two values are the same number in the same spelling; false for values that are not numbers. */
export function sameNumberText(a: unknown, b: unknown): boolean {
  return isNumeric(a) && isNumeric(b) && String(a) === String(b);
}

function isNumeric(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'bigint' || value instanceof ExactNumber;
}

/** The nearest number of an {@link ExactNumber}; other values unchanged. */
export function nearestNumber(value: unknown): unknown {
  return value instanceof ExactNumber ? value.valueOf() : value;
}

/**
 * Where a number with 16 or more digits, a fraction, an exponent or a negative zero may begin. Also matches inside some
 * strings, which costs time but does no harm.
 */
const exactNumberStart = /(?:"\s*:|[,[])\s*-?(?:\d{16}|\d+[.eE]|(?<=-)0)/;

/** Whether JSON text may contain numbers that {@link parseExactJson} preserves and JSON.parse does not. */
export function mayHaveExactNumbers(text: string): boolean {
  return exactNumberStart.test(text);
}

/**
 * Parses JSON text of any origin and preserves its numbers; as fast as JSON.parse if no number needs care. Throws the
 * errors of JSON.parse, and a NestingError.
 */
export function parseJson(text: string): unknown {
  checkNesting(text);
  const value = JSON.parse(text) as unknown;
  return mayHaveExactNumbers(text) ? parseExactJson(text, value) : value;
}

type Reviver = (this: unknown, key: string, value: unknown, context: { readonly source: string }) => unknown;

/**
 * JSON.parse that preserves all numbers; several times slower. Returns `plain` for text nested too deeply for the
 * reviver.
 */
export function parseExactJson(text: string, plain?: unknown): unknown {
  try {
    return JSON.parse(text, keepNumber as (key: string, value: unknown) => unknown);
  } catch (error) {
    // The reviver recurses, while the parser does not. Decoding refuses such nesting anyway.
    if (error instanceof RangeError && plain !== undefined) return plain;
    throw error;
  }
}

const wholeNumber = /^-?\d+$/;
/** The most digits that are converted to a bigint: longer numbers fit no field and are slow to convert. */
const maxBigintDigits = 64;

const keepNumber: Reviver = (_key, value, context) => {
  if (typeof value !== 'number') return value;
  const { source } = context;
  const isBig = !Number.isSafeInteger(value) && wholeNumber.test(source);
  if (isBig && source.length <= maxBigintDigits) return BigInt(source);
  return !isBig && String(value) === source ? value : new ExactNumber(source);
};

/** JSON text of a value, and whether it contains numbers that only {@link parseExactJson} preserves. */
export function stringifyNoting(value: unknown): { readonly text: string; readonly hasExactNumbers: boolean } {
  const before = exactNumbersWritten;
  const text = JSON.stringify(value);
  return { text, hasExactNumbers: exactNumbersWritten !== before };
}

/** A deep copy of a JSON value. Numbers keep their spelling, which structuredClone would lose. */
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
