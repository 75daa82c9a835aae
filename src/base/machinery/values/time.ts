import { BoundedMemo } from '../bounded-memo.js';
import { formatTime } from '../clock.js';
import { ValueFormatError } from './value-format-error.js';

const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))$/;
const canonicalShape = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** An instant: whole milliseconds since 1970, plus microseconds (0 to 999). */
interface Instant {
  readonly milliseconds: number;
  readonly microseconds: number;
}

/** The zero time (no time), in milliseconds: 1 January of the year 1. */
const zeroMilliseconds = -62_135_596_800_000;

function parseInstant(text: string, parts = layoutParts): Instant {
  const match = text.length > 64 ? null : rfc3339.exec(text);
  if (match === null) throw invalid(text, parts);
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const offsetHours = Number(match[9] ?? 0);
  const offsetMinutes = Number(match[10] ?? 0);
  const isInRange =
    month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month) && hour < 24 && minute < 60 && second < 60;
  if (!isInRange || offsetHours > 24 || offsetMinutes > 59) throw invalid(text, parts);
  const decimals = match[7] ?? '';
  if (parts === microLayoutParts && decimals.length !== 6) throw invalid(text, parts);
  const fraction = decimals.padEnd(6, '0');
  const date = new Date(0);
  // Date.UTC interprets years below 100 as 19xx.
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second, Number(fraction.slice(0, 3)));
  const offset = (offsetHours * 60 + offsetMinutes) * 60_000;
  const milliseconds = date.getTime() - (match[8] === '-' ? -offset : offset);
  return { milliseconds, microseconds: Number(fraction.slice(3, 6)) };
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** A part of a layout: its name in messages about wrong times, its form, and the range of its number. */
type LayoutPart = readonly [part: string, form: RegExp, range?: readonly [noun: string, from: number, to: number]];
/** The layout of a time. */
const layoutParts: readonly LayoutPart[] = [
  ['2006', /^\d{4}/],
  ['-', /^-/],
  ['01', /^\d\d/, ['month', 1, 12]],
  ['-', /^-/],
  ['02', /^\d\d/],
  ['T', /^T/],
  ['15', /^\d\d?/, ['hour', 0, 23]],
  [':', /^:/],
  ['04', /^\d\d/, ['minute', 0, 59]],
  [':', /^:/],
  ['05', /^\d\d(?:[.,]\d+)?/, ['second', 0, 59]],
  ['Z07:00', /^(?:Z|[-+](?:[01]\d|2[0-4]):[0-5]\d)/],
];
/** A time with microseconds has exactly six decimals. */
const microLayoutParts: readonly LayoutPart[] = layoutParts.flatMap((part): readonly LayoutPart[] =>
  part[0] === '05'
    ? [
        ['05', /^\d\d/, ['second', 0, 59]],
        ['.000000', /^[.,]\d{6}/],
      ]
    : [part],
);

function invalid(text: string, parts = layoutParts): ValueFormatError {
  const shown = JSON.stringify(text.slice(0, 64));
  return new ValueFormatError(`parsing time ${shown}${timeFault(text.slice(0, 64), parts)}`);
}

/** Where a text is no time, in the words that programs know. */
function timeFault(text: string, parts: readonly LayoutPart[]): string {
  const layout = parts.map(([part]) => part).join('');
  let rest = text;
  for (const [part, form, range] of parts) {
    const found = form.exec(rest)?.[0];
    if (found === undefined) return ` as "${layout}": cannot parse ${JSON.stringify(rest)} as "${part}"`;
    const number = Math.floor(Number(found.replace(',', '.')));
    if (range !== undefined && (number < range[1] || number > range[2])) return `: ${range[0]} out of range`;
    rest = rest.slice(found.length);
  }
  return rest === '' ? ': day out of range' : `: extra text: ${JSON.stringify(rest)}`;
}

/** Milliseconds since 1970 of RFC 3339 text with any offset. @throws {ValueFormatError} for other text. */
export function parseTime(text: string): number {
  return parseInstant(text).milliseconds;
}

/** RFC 3339 in UTC with six decimals: the form of a `MicroTime` field. */
export function formatMicroTime(milliseconds: number, microseconds = 0): string {
  return `${new Date(milliseconds).toISOString().slice(0, 23)}${String(microseconds).padStart(3, '0')}Z`;
}

/** The canonical form of a `Time`; null for the zero time. @throws {ValueFormatError} for other text. */
export function canonicalTime(text: string): string | null {
  return canonicalTimes.get(text);
}

/** A cache: an object contains the same few times in many places, and its next version has them again. */
const canonicalTimes = new BoundedMemo(toCanonicalTime, 1000, 32);

function toCanonicalTime(text: string): string | null {
  const { milliseconds } = parseInstant(text);
  if (milliseconds === zeroMilliseconds) return null;
  return canonicalShape.test(text) ? text : formatTime(checkYear(milliseconds, text));
}

/**
 * The canonical form of a `MicroTime`; null for the zero time.
 *
 * @throws {ValueFormatError} for other text, such as a time without exactly six decimals.
 */
export function canonicalMicroTime(text: string): string | null {
  const { milliseconds, microseconds } = parseInstant(text, microLayoutParts);
  if (milliseconds === zeroMilliseconds && microseconds === 0) return null;
  return formatMicroTime(checkYear(milliseconds, text), microseconds);
}

/** An offset can move a time outside the four-digit years. */
function checkYear(milliseconds: number, text: string): number {
  const year = new Date(milliseconds).getUTCFullYear();
  if (year < 0 || year > 9999) throw invalid(text);
  return milliseconds;
}

/** The protobuf form of a time: whole seconds since 1970, rounded down, and the remaining nanoseconds. */
export interface TimeParts {
  readonly seconds: number;
  readonly nanos: number;
}

/** Splits RFC 3339 text, to the microsecond. @throws {ValueFormatError} for other text. */
export function timeParts(text: string): TimeParts {
  return knownParts.get(text);
}

/** A cache: objects that were made together have the same times. */
const knownParts = new BoundedMemo(toTimeParts, 1000, 32);

function toTimeParts(text: string): TimeParts {
  const { milliseconds, microseconds } = parseInstant(text);
  const seconds = Math.floor(milliseconds / 1000);
  return { seconds, nanos: ((milliseconds - seconds * 1000) * 1000 + microseconds) * 1000 };
}

const secondsOfYear0 = -62_167_219_200;
const secondsOfYear10000 = 253_402_300_800;

/**
 * RFC 3339 with six decimals, cut to microseconds.
 *
 * @throws {ValueFormatError} for times outside the years 0 to 9999 and nanoseconds of a second or more.
 */
export function formatTimeParts({ seconds, nanos }: TimeParts): string {
  const isInRange = seconds >= secondsOfYear0 && seconds < secondsOfYear10000 && nanos >= 0 && nanos < 1e9;
  if (!isInRange) throw new ValueFormatError(`time out of range: ${seconds} seconds and ${nanos} nanoseconds`);
  const micros = Math.floor(nanos / 1000);
  return formatMicroTime(seconds * 1000 + Math.floor(micros / 1000), micros % 1000);
}
