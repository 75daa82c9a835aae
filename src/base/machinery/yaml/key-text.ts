import type { ResolvedScalar } from './resolve-scalar.js';
import { ScalarError } from './scalar-error.js';

/**
 * The key of a JSON object for the key of a YAML map, as other servers of this API write it: numbers and booleans as
 * strings, fractions with 32-bit precision.
 *
 * @throws ScalarError for null and for whole numbers that exceed a signed 64-bit integer
 */
export function keyText({ tag, value }: ResolvedScalar): string {
  switch (typeof value) {
    case 'string':
      return value;
    case 'boolean':
      return String(value);
    case 'bigint':
      if (BigInt.asIntN(64, value) === value) return String(value);
      break;
    case 'number':
      return tag === 'float' ? floatText(value) : String(value === 0 ? 0 : value);
  }
  throw new ScalarError(`unsupported map key: ${String(value)}`);
}

function floatText(value: number): string {
  const nearest = Math.fround(value);
  if (Number.isNaN(nearest)) return '.nan';
  if (!Number.isFinite(nearest)) return nearest < 0 ? '-.inf' : '.inf';
  if (nearest === 0) return Object.is(nearest, -0) ? '-0' : '0';
  const [digits, exponentText] = shortest(nearest).split('e') as [string, string];
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < 6) return decimalText(digits, exponent);
  return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

/** This many digits always distinguish two 32-bit numbers. */
const mostDigits = 9;

/** The shortest decimal form, with an exponent, that reads as the same 32-bit number. */
function shortest(value: number): string {
  for (let digits = 0; digits < mostDigits - 1; digits++) {
    const text = value.toExponential(digits);
    if (Math.fround(Number(text)) === value) return text;
  }
  return value.toExponential(mostDigits - 1);
}

function decimalText(digits: string, exponent: number): string {
  const sign = digits.startsWith('-') ? '-' : '';
  const bare = digits.replace(/[-.]/g, '');
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${bare}`;
  if (bare.length <= exponent + 1) return `${sign}${bare.padEnd(exponent + 1, '0')}`;
  return `${sign}${bare.slice(0, exponent + 1)}.${bare.slice(exponent + 1)}`;
}
