import { formatDuration } from '../../../base/machinery/values/duration.js';
import { CelError } from '../cel-error.js';

const billion = 1_000_000_000n;
const minSeconds = -62_135_596_800n;
const maxSeconds = 253_402_300_799n;
const largest = (1n << 63n) - 1n;
const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9})\d*)?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/** A length of time: the type `google.protobuf.Duration`. */
export class Span {
  private constructor(readonly nanoseconds: bigint) {}

  /** Throws for durations that exceed 64 bits of nanoseconds. */
  static of(nanoseconds: bigint): Span {
    if (nanoseconds > largest || nanoseconds < -largest - 1n) throw new CelError('integer overflow');
    return new Span(nanoseconds);
  }

  /** Seconds with an `s`, as in `1.5s`. */
  toString(): string {
    const whole = this.nanoseconds / billion;
    const rest = this.nanoseconds % billion;
    if (rest === 0n) return `${whole}s`;
    const sign = this.nanoseconds < 0n && whole === 0n ? '-' : '';
    const fraction = String(rest < 0n ? -rest : rest)
      .padStart(9, '0')
      .replace(/0+$/, '');
    return `${sign}${whole}.${fraction}s`;
  }

  /** The duration in hours, minutes and seconds, as in `1h30m0s`. */
  toUnits(): string {
    return formatDuration(this.nanoseconds);
  }
}

/** An instant between the years 1 and 9999, in nanoseconds since 1970. */
export class Timestamp {
  private constructor(readonly nanoseconds: bigint) {}

  /** Throws for instants out of range. */
  static of(nanoseconds: bigint): Timestamp {
    const seconds = floorDivide(nanoseconds, billion);
    if (seconds < minSeconds || seconds > maxSeconds) throw new CelError('timestamp overflow');
    return new Timestamp(nanoseconds);
  }

  /** Parses an RFC 3339 timestamp; throws for other strings. */
  static parse(text: string): Timestamp {
    const match = text.length > 64 ? null : rfc3339.exec(text);
    if (match === null) throw invalidTime();
    const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    const date = new Date(0);
    date.setUTCFullYear(year, month - 1, day);
    date.setUTCHours(hour, minute, second);
    const isReal = date.getUTCMonth() === month - 1 && date.getUTCDate() === day && hour < 24 && minute < 60;
    if (!isReal || second > 59) throw invalidTime();
    const offset = (Number(match[9] ?? 0) * 60 + Number(match[10] ?? 0)) * 60 * (match[8] === '-' ? -1 : 1);
    const fraction = BigInt((match[7] ?? '').padEnd(9, '0'));
    return Timestamp.of((BigInt(date.getTime() / 1000) - BigInt(offset)) * billion + fraction);
  }

  /** Whole milliseconds since 1970. */
  get milliseconds(): number {
    return Number(floorDivide(this.nanoseconds, 1_000_000n));
  }

  toString(): string {
    const whole = new Date(Number(floorDivide(this.nanoseconds, billion)) * 1000).toISOString().slice(0, 19);
    const rest = this.nanoseconds - floorDivide(this.nanoseconds, billion) * billion;
    const fraction = rest === 0n ? '' : `.${String(rest).padStart(9, '0').replace(/0+$/, '')}`;
    return `${whole}${fraction}Z`;
  }
}

function invalidTime(): CelError {
  return new CelError("type conversion error from 'string' to 'google.protobuf.Timestamp'");
}

/** Division that rounds down, whatever the sign. */
export function floorDivide(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor;
  return value < 0n && quotient * divisor !== value ? quotient - 1n : quotient;
}

/**
 * The instant as local time of a zone (`Europe/Berlin`, `+02:00`; UTC if unset), in milliseconds, to be read with the
 * UTC getters of Date. Throws for an unknown zone.
 */
export function localTime(instant: Timestamp, zone: string | undefined): Date {
  const utc = instant.milliseconds;
  if (zone === undefined || zone === 'UTC') return new Date(utc);
  const fixed = /^([+-]?)(\d\d):(\d\d)$/.exec(zone);
  if (fixed !== null) {
    const minutes = Number(fixed[2]) * 60 + Number(fixed[3]);
    return new Date(utc + (fixed[1] === '-' ? -minutes : minutes) * 60_000);
  }
  const parts: Record<string, number> = {};
  for (const { type, value } of zoneFormat(zone).formatToParts(utc)) parts[type] = Number(value);
  const local = new Date(0);
  local.setUTCFullYear(parts.year ?? 0, (parts.month ?? 1) - 1, parts.day ?? 1);
  local.setUTCHours(parts.hour ?? 0, parts.minute ?? 0, parts.second ?? 0, ((utc % 1000) + 1000) % 1000);
  return local;
}

/** Recently used time zone formats; making one takes about 50 microseconds. */
const zoneFormats = new Map<string, Intl.DateTimeFormat>();
const maxZoneFormats = 64;

function zoneFormat(zone: string): Intl.DateTimeFormat {
  let format = zoneFormats.get(zone);
  if (format !== undefined) return format;
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch {
    throw new CelError(`unknown time zone ${zone.slice(0, 64)}`);
  }
  if (zoneFormats.size >= maxZoneFormats) zoneFormats.clear();
  zoneFormats.set(zone, format);
  return format;
}
