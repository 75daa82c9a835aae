import { parseDuration } from '../../../base/machinery/values/duration.js';
import { ValueFormatError } from '../../../base/machinery/values/value-format-error.js';
import { CelError } from '../cel-error.js';
import type { LibraryBuilder, Overload } from '../function-table.js';
import { types, valueTypeName } from '../values/cel-type.js';
import { floorDivide, Span, Timestamp } from '../values/time.js';
import { TypeValue, Uint, type Value } from '../values/value.js';

const { a, bool, bytes, double, duration, dyn, int, string, timestamp, type, uint } = types;
const billion = 1_000_000_000n;
const intText = /^[+-]?\d+$/;
const doubleText = /^[+-]?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|inf(?:inity)?|nan)$/i;
const trueTexts = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const falseTexts = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False']);
const maxNumberText = 400;

function noConversion(what: string): CelError {
  return new CelError(`type conversion error from 'string' to '${what}'`);
}

function toInt(value: bigint): bigint {
  if (BigInt.asIntN(64, value) !== value) throw new CelError('integer overflow');
  return value;
}

function toUint(value: bigint): Uint {
  if (BigInt.asUintN(64, value) !== value) throw new CelError('unsigned integer overflow');
  return new Uint(value);
}

function truncated(value: number, message: string): bigint {
  // Both ends are excluded: as doubles they can't be distinguished from their neighbours outside the range.
  if (!Number.isFinite(value) || value <= -(2 ** 63) || value >= 2 ** 64) throw new CelError(message);
  return BigInt(Math.trunc(value));
}

function wholeNumber(text: string, what: string): bigint {
  if (text.length > maxNumberText || !intText.test(text)) throw noConversion(what);
  return BigInt(text.startsWith('+') ? text.slice(1) : text);
}

function number(text: string): number {
  if (text.length > maxNumberText || !doubleText.test(text)) throw noConversion('double');
  const lower = text.toLowerCase();
  if (lower.includes('inf')) return lower.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return lower.includes('nan') ? Number.NaN : Number(text);
}

/** A double as a string: without a fraction if there is none, with an exponent if it is far from one. */
export function doubleToText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (Object.is(value, -0)) return '-0';
  const magnitude = Math.abs(value);
  if (magnitude !== 0 && (magnitude < 1e-4 || magnitude >= 1e21)) {
    return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
  }
  return String(value);
}

function decodeUtf8(value: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value);
  } catch {
    throw new CelError('invalid UTF-8 in bytes, cannot convert to string');
  }
}

/** Reads a literal when the expression is compiled, so that its author gets an error for an invalid one. */
function literal(name: string, read: (text: string) => Value): Overload['specialize'] {
  return ([text]) => {
    if (typeof text !== 'string') return undefined;
    try {
      const value = read(text);
      return () => value;
    } catch (error) {
      if (error instanceof CelError) return { error: `invalid ${name} argument` };
      throw error;
    }
  };
}

function span(text: string): Span {
  try {
    return Span.of(parseDuration(text));
  } catch (error) {
    if (error instanceof ValueFormatError) throw noConversion('google.protobuf.Duration');
    throw error;
  }
}

const encoder = new TextEncoder();

/** Conversions between types, and `type` and `dyn`. */
export function conversions(library: LibraryBuilder): void {
  library
    .fn('dyn', [a], dyn, (_, value) => value)
    .fn('type', [a], type, (_, value) => new TypeValue(valueTypeName(value)))
    .fn('bool', [bool], bool, (_, value) => value)
    .fn('bool', [string], bool, (_, text: string) => {
      if (trueTexts.has(text)) return true;
      if (falseTexts.has(text)) return false;
      throw noConversion('bool');
    })
    .fn('int', [int], int, (_, value) => value)
    .fn('int', [uint], int, (_, { value }: Uint) => toInt(value))
    .fn('int', [double], int, (_, value: number) => {
      if (value >= 2 ** 63) throw new CelError('integer overflow');
      return toInt(truncated(value, 'integer overflow'));
    })
    .fn('int', [string], int, (_, text: string) => toInt(wholeNumber(text, 'int')))
    .fn('int', [timestamp], int, (_, { nanoseconds }: Timestamp) => floorDivide(nanoseconds, billion))
    .fn('int', [duration], int, (_, { nanoseconds }: Span) => nanoseconds)
    .fn('uint', [uint], uint, (_, value) => value)
    .fn('uint', [int], uint, (_, value: bigint) => toUint(value))
    .fn('uint', [double], uint, (_, value: number) => {
      if (value < 0) throw new CelError('unsigned integer overflow');
      return toUint(truncated(value, 'unsigned integer overflow'));
    })
    .fn('uint', [string], uint, (_, text: string) => toUint(wholeNumber(text, 'uint')))
    .fn('double', [double], double, (_, value) => value)
    .fn('double', [int], double, (_, value: bigint) => Number(value))
    .fn('double', [uint], double, (_, { value }: Uint) => Number(value))
    .fn('double', [string], double, (_, text: string) => number(text))
    .fn('string', [string], string, (_, value) => value)
    .fn('string', [bool], string, (_, value: boolean) => String(value))
    .fn('string', [int], string, (_, value: bigint) => String(value))
    .fn('string', [uint], string, (_, { value }: Uint) => String(value))
    .fn('string', [double], string, (_, value: number) => doubleToText(value))
    .fn('string', [bytes], string, ({ budget }, value: Uint8Array) => {
      budget.chargeText(value.length);
      return decodeUtf8(value);
    })
    .fn('string', [timestamp], string, (_, value: Timestamp) => value.toString())
    .fn('string', [duration], string, (_, value: Span) => value.toString())
    .fn('bytes', [bytes], bytes, (_, value) => value)
    .fn('bytes', [string], bytes, ({ budget }, text: string) => {
      budget.chargeText(text.length);
      return encoder.encode(text);
    })
    .fn('timestamp', [timestamp], timestamp, (_, value) => value)
    .fn('timestamp', [string], timestamp, (_, text: string) => Timestamp.parse(text), {
      specialize: literal('timestamp', (text) => Timestamp.parse(text)),
    })
    .fn('timestamp', [int], timestamp, (_, seconds: bigint) => Timestamp.of(seconds * billion))
    .fn('duration', [duration], duration, (_, value) => value)
    .fn('duration', [string], duration, (_, text: string) => span(text), { specialize: literal('duration', span) })
    .fn('duration', [int], duration, (_, seconds: bigint): Value => Span.of(seconds * billion));
}
