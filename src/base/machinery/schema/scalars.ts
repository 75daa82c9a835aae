import { ExactNumber, nearestNumber } from '../json/exact-numbers.js';
import { plainJson, plainText } from '../json/plain-json.js';
import { canonicalBase64 } from '../values/base64.js';
import { canonicalDuration } from '../values/duration.js';
import { canonicalQuantity } from '../values/quantity.js';
import { canonicalMicroTime, canonicalTime } from '../values/time.js';
import { ValueFormatError } from '../values/value-format-error.js';
import { exceedsDepth, maxDepth } from './depth.js';
import { Mismatch } from './mismatch.js';
import type { ScalarName } from './types.js';

/** Converts a JSON value other than null into its canonical form. Throws Mismatch or ValueFormatError. */
export type ScalarDecoder = (input: unknown) => unknown;

const minInt32 = -(2 ** 31);
const maxInt32 = 2 ** 31 - 1;
const minInt64 = -(2n ** 63n);
const maxInt64 = 2n ** 63n - 1n;

function decodeString(input: unknown): string {
  if (typeof input !== 'string') throw new Mismatch('a string', input);
  return plainText(input);
}

function decodeInt32(input: unknown): number {
  const value = typeof input === 'object' ? nearestNumber(input) : input;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < minInt32 || value > maxInt32) {
    throw new Mismatch('a whole number of 32 bits', input);
  }
  return value === 0 ? 0 : value;
}

/**
 * A number that JavaScript can't represent exactly becomes a bigint, although the static type of these fields is
 * number. A bigint compares and serializes like a number, and almost no object contains one. Arithmetic needs
 * `Number(value)`.
 */
function decodeInt64(input: unknown): number {
  const value = typeof input === 'object' ? nearestNumber(input) : input;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value === 0 ? 0 : value;
  if (typeof value !== 'bigint' || value < minInt64 || value > maxInt64) {
    throw new Mismatch('a whole number of 64 bits', input);
  }
  return (isSafe(value) ? Number(value) : value) as number;
}

function isSafe(value: bigint): boolean {
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER;
}

function decodeBool(input: unknown): boolean {
  if (typeof input !== 'boolean') throw new Mismatch('true or false', input);
  return input;
}

function decodeDouble(input: unknown): number {
  const value = typeof input === 'bigint' ? Number(input) : nearestNumber(input);
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new Mismatch('a number', input);
  return value;
}

function fromText(expected: string, canonical: (text: string) => unknown): ScalarDecoder {
  return (input) => {
    if (typeof input !== 'string') throw new Mismatch(expected, input);
    return canonical(input);
  };
}

function decodeQuantity(input: unknown): string {
  if (typeof input === 'string' || typeof input === 'number') return canonicalQuantity(input);
  if (typeof input !== 'bigint' && !(input instanceof ExactNumber)) throw new Mismatch('a quantity', input);
  return canonicalQuantity(String(input));
}

function decodeIntOrString(input: unknown): number | string {
  return typeof input === 'string' ? plainText(input) : decodeInt32(input);
}

function decodeObject(input: unknown): object {
  if (typeof input !== 'object' || Array.isArray(input) || input instanceof ExactNumber) {
    throw new Mismatch('an object', input);
  }
  return decodeAny(input) as object;
}

function decodeAny(input: unknown): unknown {
  if (typeof input === 'object' && exceedsDepth(input, maxDepth)) throw new ValueFormatError('exceeded max depth');
  return plainJson(input);
}

/** Decoders of scalars. Raw values are copied only where clients would read them differently, see `plainJson`. */
export const scalarDecoders: Readonly<Record<ScalarName, ScalarDecoder>> = {
  string: decodeString,
  int32: decodeInt32,
  int64: decodeInt64,
  bool: decodeBool,
  double: decodeDouble,
  bytes: fromText('base64 text', canonicalBase64),
  quantity: decodeQuantity,
  time: fromText('a date and time as in RFC 3339', canonicalTime),
  microTime: fromText('a date and time as in RFC 3339', canonicalMicroTime),
  duration: fromText('a duration', canonicalDuration),
  intOrString: decodeIntOrString,
  rawExtension: decodeAny,
  fieldsV1: decodeObject,
  anyJson: decodeAny,
};

/** The value of a scalar that was not given: Go's zero value. */
export const scalarZeros: Readonly<Record<ScalarName, string | number | boolean | null>> = {
  string: '',
  int32: 0,
  int64: 0,
  bool: false,
  double: 0,
  bytes: null,
  quantity: '0',
  time: null,
  microTime: null,
  duration: '0s',
  intOrString: 0,
  rawExtension: null,
  fieldsV1: null,
  anyJson: null,
};
