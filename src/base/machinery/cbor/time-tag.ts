import { parseTime } from '../values/time.js';
import { ValueFormatError } from '../values/value-format-error.js';
import { CborError } from './cbor-error.js';

const nanosPerSecond = 1_000_000_000;
const yearStarts = { first: -62_167_219_200, afterLast: 253_402_300_800 };

/**
 * The tag for RFC 3339 text followed by the text in canonical form: no trailing zeros in the fraction, and Z for UTC.
 */
export function taggedTimeText(text: string): string {
  try {
    parseTime(text);
  } catch (cause) {
    if (cause instanceof ValueFormatError) throw new CborError(cause.message, { cause });
    throw cause;
  }
  const parts = /^(.{19})(?:[.,](\d+))?(.*)$/.exec(text) as RegExpExecArray;
  const [, seconds, fraction = '', offset] = parts as unknown as [string, string, string | undefined, string];
  return `${seconds}${fractionText(fraction.slice(0, 9))}${offset === '+00:00' || offset === '-00:00' ? 'Z' : offset}`;
}

/** RFC 3339 text in UTC for seconds since 1970; throws for years without four digits. */
export function epochTimeText(value: number | bigint): string {
  const number = Number(value);
  const whole = Math.trunc(number);
  const nanos = Math.trunc((number - whole) * nanosPerSecond);
  const seconds = nanos < 0 ? whole - 1 : whole;
  if (!(seconds >= yearStarts.first && seconds < yearStarts.afterLast)) {
    throw new CborError('a time must be in the years 0 to 9999');
  }
  const fraction = String(nanos < 0 ? nanos + nanosPerSecond : nanos).padStart(9, '0');
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}${fractionText(fraction)}Z`;
}

function fractionText(digits: string): string {
  const needed = digits.replace(/0+$/, '');
  return needed === '' ? '' : `.${needed}`;
}
