import { badRequestError } from '../../../base/machinery/status-error.js';

const largest = 2n ** 63n - 1n;

/**
 * Reads a 64-bit integer from a query; undefined when it is missing. Clients send the largest one for "no
 * limit". Throws a 400 with the upstream message for anything else.
 */
export function parseQueryNumber(text: string | null): bigint | undefined {
  if (text === null) return undefined;
  if (!/^[+-]?\d+$/.test(text))
    throw badRequestError(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  // Longer numbers are not converted, since that would take too long.
  const digits = text.replace(/^[+-]?0*/, '');
  const size = digits.length > 19 ? largest + 2n : BigInt(digits === '' ? 0 : digits);
  const value = text.startsWith('-') ? -size : size;
  if (value > largest || value < -largest - 1n) {
    throw badRequestError(`strconv.ParseInt: parsing ${JSON.stringify(text.slice(0, 64))}: value out of range`);
  }
  return value;
}

/**
 * Like {@link parseQueryNumber}, but returns a number that is safe for arithmetic: values are capped at
 * ±999,999,999,999,999.
 */
export function parseCountedNumber(text: string | null): number | undefined {
  const value = parseQueryNumber(text);
  return value === undefined ? undefined : Math.max(-mostCounted, Math.min(mostCounted, Number(value)));
}

const mostCounted = 999_999_999_999_999;
