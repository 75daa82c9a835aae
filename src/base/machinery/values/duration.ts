import { ValueFormatError } from './value-format-error.js';

const unitNanoseconds: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
  d: 86_400_000_000_000n,
};
const wholeText = /^([+-]?)((?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;
const wholeTextWithDays = /^([+-]?)((?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h|d))+)$/;
const partText = /(\d*)\.?(\d*)(ns|us|µs|μs|ms|s|m|h|d)/g;
const largest = (1n << 63n) - 1n;
const maxLength = 200;

/**
 * Parses a duration such as `1h30m`, `1.5s` or `-2ms` into nanoseconds. Days (`7d`) are for people only: fields of
 * objects don't accept them.
 *
 * @throws {ValueFormatError} for other strings and for durations that exceed 64 bits.
 */
export function parseDuration(text: string, { days = false } = {}): bigint {
  if (text === '0' || text === '+0' || text === '-0') return 0n;
  const match = text.length > maxLength ? null : (days ? wholeTextWithDays : wholeText).exec(text);
  if (match === null) throw invalid(text, days);
  let total = 0n;
  for (const [, whole, fraction, unit] of (match[2] as string).matchAll(partText)) {
    const nanoseconds = unitNanoseconds[unit as string] as bigint;
    total += BigInt(whole || '0') * nanoseconds;
    if (fraction) total += (BigInt(fraction) * nanoseconds) / 10n ** BigInt(fraction.length);
  }
  const isNegative = match[1] === '-';
  if (total > (isNegative ? largest + 1n : largest)) throw invalid(text, days);
  return isNegative ? -total : total;
}

function invalid(text: string, days: boolean): ValueFormatError {
  const quoted = JSON.stringify(text.slice(0, maxLength));
  // Matches the valid parts, and the number and the unit of the first part that is wrong.
  const part = /^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))*(?:\d+\.?\d*|\.\d+)([^.\d]*)/.exec(
    text.slice(0, maxLength),
  );
  if (part === null) return new ValueFormatError(`time: invalid duration ${quoted}`);
  const unit = part[1] as string;
  if (unit === '') return new ValueFormatError(`time: missing unit in duration ${quoted}`);
  if (Object.hasOwn(unitNanoseconds, unit) && (days || unit !== 'd'))
    return new ValueFormatError(`time: invalid duration ${quoted}`);
  return new ValueFormatError(`time: unknown unit ${JSON.stringify(unit)} in duration ${quoted}`);
}

/** The canonical text: `1h30m0s`, `1.5s`, `2ms`, `0s`. */
export function formatDuration(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return '0s';
  const sign = nanoseconds < 0n ? '-' : '';
  const value = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  if (value < 1_000n) return `${sign}${value}ns`;
  if (value < 1_000_000n) return `${sign}${decimal(value, 3)}µs`;
  if (value < 1_000_000_000n) return `${sign}${decimal(value, 6)}ms`;
  const minutes = value / 60_000_000_000n;
  const seconds = `${decimal(value % 60_000_000_000n, 9)}s`;
  if (minutes === 0n) return `${sign}${seconds}`;
  if (minutes < 60n) return `${sign}${minutes}m${seconds}`;
  return `${sign}${minutes / 60n}h${minutes % 60n}m${seconds}`;
}

/** `value` divided by ten to the power of `digits`, without trailing zeros. */
function decimal(value: bigint, digits: number): string {
  const divisor = 10n ** BigInt(digits);
  const rest = value % divisor;
  if (rest === 0n) return String(value / divisor);
  return `${value / divisor}.${String(rest).padStart(digits, '0').replace(/0+$/, '')}`;
}

/** @throws {ValueFormatError} for text that is not a duration. */
export function canonicalDuration(text: string): string {
  return formatDuration(parseDuration(text));
}

/** Nanoseconds as milliseconds, with fractions. */
export function durationMilliseconds(nanoseconds: bigint): number {
  return Number(nanoseconds) / 1e6;
}
