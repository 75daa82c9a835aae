import { parseDuration } from './duration.js';
import { ValueFormatError } from './value-format-error.js';

/** When a job is due: at set times of the clock, or repeatedly after a fixed interval. */
export type CronSchedule =
  | {
      readonly kind: 'clock';
      readonly minutes: ReadonlySet<number>;
      readonly hours: ReadonlySet<number>;
      /** Days of the month, from 1. */
      readonly days: ReadonlySet<number>;
      /** Months, from 1. */
      readonly months: ReadonlySet<number>;
      /** Days of the week; Sunday is 0. */
      readonly weekdays: ReadonlySet<number>;
      /** Whether both the day of the month and the day of the week must match; otherwise one of them is enough. */
      readonly needsBothDays: boolean;
    }
  | { readonly kind: 'every'; readonly ms: number };

interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly names: readonly string[];
}

const monthNames = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const dayNames = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** Minute, hour, day of the month, month, day of the week; names count up from `min`. */
const fieldBounds: readonly Bounds[] = [
  { min: 0, max: 59, names: [] },
  { min: 0, max: 23, names: [] },
  { min: 1, max: 31, names: [] },
  { min: 1, max: 12, names: monthNames },
  { min: 0, max: 6, names: dayNames },
];

const descriptors: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};
const everyPrefix = '@every ';

/** The error in a cron schedule of five fields or a descriptor such as `@daily`; undefined for a valid schedule. */
export function scheduleError(schedule: string): string | undefined {
  try {
    parseSchedule(schedule);
    return undefined;
  } catch (error) {
    if (!(error instanceof ValueFormatError)) throw error;
    return error.message;
  }
}

/**
 * Parses a cron schedule of five fields or a descriptor.
 *
 * @throws {ValueFormatError} that describes the error
 */
export function parseSchedule(schedule: string): CronSchedule {
  if (schedule.includes('TZ')) throw fault('cannot use TZ or CRON_TZ in schedule, use timeZone field instead');
  if (schedule.startsWith('@')) return parseDescriptor(schedule);
  const fields = schedule.split(/\s+/).filter((field) => field !== '');
  if (fields.length !== fieldBounds.length) {
    throw fault(`expected exactly ${fieldBounds.length} fields, found ${fields.length}: [${fields.join(' ')}]`);
  }
  const [minutes, hours, days, months, weekdays] = fieldBounds.map((bounds, i) =>
    parseField(fields[i] as string, bounds),
  ) as [Field, Field, Field, Field, Field];
  return {
    kind: 'clock',
    minutes: minutes.values,
    hours: hours.values,
    days: days.values,
    months: months.values,
    weekdays: weekdays.values,
    needsBothDays: days.isAny || weekdays.isAny,
  };
}

function parseDescriptor(text: string): CronSchedule {
  const fields = Object.hasOwn(descriptors, text) ? descriptors[text] : undefined;
  if (fields !== undefined) return parseSchedule(fields);
  if (!text.startsWith(everyPrefix)) throw fault(`unrecognized descriptor: ${text}`);
  try {
    const seconds = parseDuration(text.slice(everyPrefix.length)) / 1_000_000_000n;
    return { kind: 'every', ms: Math.max(1, Number(seconds)) * 1000 };
  } catch (error) {
    if (!(error instanceof ValueFormatError)) throw error;
    throw fault(`failed to parse duration ${text}: ${error.message}`);
  }
}

interface Field {
  readonly values: ReadonlySet<number>;
  /** Whether the field places no restriction on its values: `*` or `?`. */
  readonly isAny: boolean;
}

function parseField(text: string, bounds: Bounds): Field {
  const values = new Set<number>();
  let isAny = false;
  for (const expression of text.split(',')) {
    if (expression === '') continue;
    const { start, end, step, isStar } = parseRange(expression, bounds);
    for (let value = start; value <= end; value += step) values.add(value);
    if (isStar && step === 1) isAny = true;
  }
  return { values, isAny };
}

/** `*`, `5`, `1-5`, `mon-fri`, each with an optional `/step`. */
function parseRange(expression: string, bounds: Bounds) {
  const [range = '', stepText, ...moreSteps] = expression.split('/');
  const [low = '', high, ...moreHyphens] = range.split('-');
  const isStar = low === '*' || low === '?';
  let start = bounds.min;
  let end = bounds.max;
  if (!isStar) {
    start = parseNumber(low, bounds);
    if (moreHyphens.length > 0) throw fault(`too many hyphens: ${expression}`);
    const last = high === undefined ? start : parseNumber(high, bounds);
    end = high === undefined && stepText !== undefined ? bounds.max : last;
  }
  if (moreSteps.length > 0) throw fault(`too many slashes: ${expression}`);
  const step = stepText === undefined ? 1 : parseNumber(stepText, { ...bounds, names: [] });
  if (step === 0) throw fault(`step of range should be a positive number: ${expression}`);
  if (start < bounds.min) throw fault(`beginning of range (${start}) below minimum (${bounds.min}): ${expression}`);
  if (end > bounds.max) throw fault(`end of range (${end}) above maximum (${bounds.max}): ${expression}`);
  if (start > end) throw fault(`beginning of range (${start}) beyond end of range (${end}): ${expression}`);
  return { start, end, step, isStar };
}

function parseNumber(text: string, { min, names }: Bounds): number {
  const name = names.indexOf(text.toLowerCase());
  if (name >= 0) return name + min;
  if (/^\+?\d{1,15}$/.test(text)) return Number(text);
  if (/^-\d{1,15}$/.test(text)) throw fault(`Negative number (${text}) not allowed: ${text}`);
  throw fault(`failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`);
}

function fault(message: string): ValueFormatError {
  return new ValueFormatError(message);
}
