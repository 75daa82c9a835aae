import { BoundedMemo } from '../bounded-memo.js';
import { ValueFormatError } from './value-format-error.js';

/** The format in which a quantity was written, which is kept for display: `1500M`, `1536Mi`, `1e3`. */
export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

/** An exact decimal: `unscaled` times ten to the power of `scale`. */
export interface Quantity {
  readonly unscaled: bigint;
  readonly scale: number;
  readonly format: QuantityFormat;
}

const decimalExponents: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const decimalSuffixes = new Map(Object.entries(decimalExponents).map(([suffix, exponent]) => [exponent, suffix]));
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'] as const;

const formatMessage = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const grammar = /^([+-]?)(\d*)(?:\.(\d*))?([eEinumkKMGTP]*[-+]?\d*)$/;
const canonicalShort = /^[1-9]\d{0,2}(?:[numkMGTPE]|[KMGTP]i)?$/;

/** The finest resolution; smaller parts are rounded away from zero. */
const finestScale = -9;
const largest = (1n << 63n) - 1n;
/** Far above any real use; guards against huge numbers from hostile input. */
const maxDigits = 1000;
const maxExponent = 999;

/**
 * Parses quantity text (`100m`, `1.5Gi`, `1e3`). Parts finer than nano are rounded away from zero. Values with a binary
 * suffix are capped at 2^63 - 1.
 *
 * @throws {ValueFormatError} for text that is not a quantity.
 */
function parseQuantity(text: string): Quantity {
  const match = grammar.exec(text);
  if (match === null) throw new ValueFormatError(formatMessage);
  const isNegative = match[1] === '-';
  const whole = stripLeadingZeros(match[2] as string);
  const fraction = match[3] ?? '';
  const suffix = parseSuffix(match[4] as string);
  if (match[2] === '' && fraction === '') {
    throw new ValueFormatError(match[3] === undefined ? formatMessage : 'unable to parse numeric part of quantity');
  }
  if (whole.length + fraction.length > maxDigits) {
    throw new ValueFormatError('unable to parse numeric part of quantity');
  }
  const digits = BigInt(whole + fraction === '' ? '0' : whole + fraction);
  const magnitude =
    suffix.format === 'BinarySI'
      ? binaryMagnitude(digits, fraction, suffix.exponent)
      : roundUp(digits, suffix.exponent - fraction.length);
  const isBelowOne = suffix.format === 'BinarySI' && magnitude.scale < 0 && digits !== 0n && isFraction(magnitude);
  return {
    unscaled: isNegative ? -magnitude.unscaled : magnitude.unscaled,
    scale: magnitude.scale,
    format: isBelowOne ? 'DecimalSI' : suffix.format,
  };
}

interface Magnitude {
  readonly unscaled: bigint;
  readonly scale: number;
}

function stripLeadingZeros(digits: string): string {
  let start = 0;
  while (start < digits.length && digits.charCodeAt(start) === 48) start++;
  return start === 0 ? digits : digits.slice(start);
}

function parseSuffix(suffix: string): { format: QuantityFormat; exponent: number } {
  const decimal = decimalExponents[suffix];
  if (decimal !== undefined) return { format: 'DecimalSI', exponent: decimal };
  const binary = (binarySuffixes as readonly string[]).indexOf(suffix);
  if (binary > 0) return { format: 'BinarySI', exponent: binary * 10 };
  if (/^[eE][-+]?\d+$/.test(suffix)) {
    const exponent = Number(suffix.slice(1));
    if (Math.abs(exponent) <= maxExponent) return { format: 'DecimalExponent', exponent };
  }
  throw new ValueFormatError("unable to parse quantity's suffix");
}

/** Caps binary values at 64 bits; decimal values have no bound. */
function binaryMagnitude(digits: bigint, fraction: string, exponent: number): Magnitude {
  const magnitude = roundUp(digits << BigInt(exponent), -fraction.length);
  return magnitude.unscaled > largest * 10n ** BigInt(-magnitude.scale) ? { unscaled: largest, scale: 0 } : magnitude;
}

/** Rounds away from zero to nano, so a nonzero request never becomes zero. */
function roundUp(digits: bigint, scale: number): Magnitude {
  if (scale >= finestScale) return { unscaled: digits, scale };
  return { unscaled: divideUp(digits, 10n ** BigInt(finestScale - scale)), scale: finestScale };
}

function divideUp(value: bigint, divisor: bigint): bigint {
  return (value + divisor - 1n) / divisor;
}

function isFraction({ unscaled, scale }: Magnitude): boolean {
  return unscaled < 10n ** BigInt(-scale);
}

/** The canonical text: without a fraction, with the largest suffix that is exact. */
export function formatQuantity(quantity: Quantity): string {
  if (quantity.unscaled === 0n) return '0';
  if (quantity.format === 'BinarySI') {
    const whole = wholeValue(quantity);
    if (whole !== undefined && (whole >= 1024n || whole <= -1024n)) return formatBinary(whole);
  }
  return formatDecimal(quantity);
}

function wholeValue({ unscaled, scale }: Quantity): bigint | undefined {
  if (scale >= 0) return unscaled * 10n ** BigInt(scale);
  const divisor = 10n ** BigInt(-scale);
  return unscaled % divisor === 0n ? unscaled / divisor : undefined;
}

function formatBinary(value: bigint): string {
  let rest = value;
  let power = 0;
  while (power < binarySuffixes.length - 1 && rest % 1024n === 0n) {
    rest /= 1024n;
    power++;
  }
  return `${rest}${binarySuffixes[power]}`;
}

function formatDecimal({ unscaled, scale, format }: Quantity): string {
  let rest = unscaled;
  let exponent = scale;
  while (rest % 10n === 0n) {
    rest /= 10n;
    exponent++;
  }
  while (exponent % 3 !== 0) {
    rest *= 10n;
    exponent--;
  }
  if (exponent === 0) return String(rest);
  const suffix = format === 'DecimalExponent' ? undefined : decimalSuffixes.get(exponent);
  return suffix === undefined ? `${rest}e${exponent}` : `${rest}${suffix}`;
}

/**
 * The canonical text of a quantity given as text or as a JSON number.
 *
 * @throws {ValueFormatError} for values that are not quantities.
 */
export function canonicalQuantity(value: string | number): string {
  const text = typeof value === 'string' ? value.trim() : String(value);
  if (text === '0' || canonicalShort.test(text)) return text;
  return formatQuantity(parseQuantity(text));
}

/**
 * The exact value of quantity text.
 *
 * @throws {ValueFormatError} for text that is not a quantity.
 */
export function quantityOf(text: string): Quantity {
  return parseQuantity(text);
}

/** A quantity of the given number of whole units. */
export function wholeQuantity(units: number | bigint): Quantity {
  return { unscaled: BigInt(units), scale: 0, format: 'DecimalSI' };
}

function toQuantity(value: Quantity | string): Quantity {
  return typeof value === 'string' ? knownQuantities.get(value) : value;
}

/** A cache, since the same few quantities appear in most objects, and rules read each of them several times. */
const knownQuantities = new BoundedMemo(parseQuantity, 1000, 32);

function aligned(a: Quantity, b: Quantity): { readonly a: bigint; readonly b: bigint; readonly scale: number } {
  const scale = Math.min(a.scale, b.scale);
  return {
    a: a.unscaled * 10n ** BigInt(a.scale - scale),
    b: b.unscaled * 10n ** BigInt(b.scale - scale),
    scale,
  };
}

/** Negative, zero or positive as `a` is less than, equal to or greater than `b`. Exact. */
export function compareQuantities(a: Quantity | string, b: Quantity | string): number {
  const values = aligned(toQuantity(a), toQuantity(b));
  return values.a < values.b ? -1 : values.a > values.b ? 1 : 0;
}

/** The sum, in the format of `a` unless that is zero. Exact. */
export function addQuantities(a: Quantity | string, b: Quantity | string): Quantity {
  const left = toQuantity(a);
  const right = toQuantity(b);
  const values = aligned(left, right);
  return {
    unscaled: values.a + values.b,
    scale: values.scale,
    format: left.unscaled === 0n ? right.format : left.format,
  };
}

/** The difference, in the format of `a` unless that is zero. Exact. */
export function subtractQuantities(a: Quantity | string, b: Quantity | string): Quantity {
  const right = toQuantity(b);
  return addQuantities(a, { ...right, unscaled: -right.unscaled });
}

/** The sign: -1, 0 or 1. */
export function quantitySign(value: Quantity | string): number {
  const { unscaled } = toQuantity(value);
  return unscaled < 0n ? -1 : unscaled > 0n ? 1 : 0;
}

/** The value in units of ten to the power of `scale`, rounded away from zero: scale 0 for the value, -3 for milli. */
export function scaledQuantity(value: Quantity | string, scale: number): bigint {
  const { unscaled, scale: ownScale } = toQuantity(value);
  if (ownScale >= scale) return unscaled * 10n ** BigInt(ownScale - scale);
  const divisor = 10n ** BigInt(scale - ownScale);
  return unscaled < 0n ? -divideUp(-unscaled, divisor) : divideUp(unscaled, divisor);
}

/** Whole units as a number, rounded away from zero; exact below 2^53. */
export function quantityValue(value: Quantity | string): number {
  return Number(scaledQuantity(value, 0));
}

/** Thousandths as a number, rounded away from zero; exact below 2^53. */
export function quantityMilliValue(value: Quantity | string): number {
  return Number(scaledQuantity(value, -3));
}
