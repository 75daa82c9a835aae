import { parseDuration } from '../../../machinery/values/duration.js';
import { ValueFormatError } from '../../../machinery/values/value-format-error.js';

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

const descriptors: ReadonlySet<string> = new Set([
  '@yearly',
  '@annually',
  '@monthly',
  '@weekly',
  '@daily',
  '@midnight',
  '@hourly',
]);
const everyPrefix = '@every ';

/** The fault in a cron schedule of five fields or a descriptor such as `@daily`; undefined for a valid one. */
export function scheduleError(schedule: string): string | undefined {
  if (schedule.includes('TZ')) return 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead';
  if (schedule.startsWith('@')) return descriptorError(schedule);
  const fields = schedule.split(/\s+/).filter((field) => field !== '');
  if (fields.length !== fieldBounds.length) {
    return `Expected exactly ${fieldBounds.length} fields, found ${fields.length}: ${schedule}`;
  }
  for (const [i, bounds] of fieldBounds.entries()) {
    for (const expression of (fields[i] as string).split(',')) {
      if (expression === '') continue;
      const message = rangeError(expression, bounds);
      if (message !== undefined) return message;
    }
  }
  return undefined;
}

function descriptorError(text: string): string | undefined {
  if (descriptors.has(text)) return undefined;
  if (!text.startsWith(everyPrefix)) return `Unrecognized descriptor: ${text}`;
  try {
    parseDuration(text.slice(everyPrefix.length));
    return undefined;
  } catch (error) {
    if (!(error instanceof ValueFormatError)) throw error;
    return `Failed to parse duration ${text}: ${error.message}`;
  }
}

/** `*`, `5`, `1-5`, `mon-fri`, each with an optional `/step`. */
function rangeError(expression: string, bounds: Bounds): string | undefined {
  const [range = '', stepText, ...moreSteps] = expression.split('/');
  const [low = '', high, ...moreHyphens] = range.split('-');
  let start = bounds.min;
  let end = bounds.max;
  if (low !== '*' && low !== '?') {
    const first = parseNumber(low, bounds);
    if (typeof first === 'string') return first;
    if (moreHyphens.length > 0) return `Too many hyphens: ${expression}`;
    const last = high === undefined ? first : parseNumber(high, bounds);
    if (typeof last === 'string') return last;
    start = first;
    end = high === undefined && stepText !== undefined ? bounds.max : last;
  }
  if (moreSteps.length > 0) return `Too many slashes: ${expression}`;
  if (stepText !== undefined) {
    const step = parseNumber(stepText, { ...bounds, names: [] });
    if (typeof step === 'string') return step;
    if (step === 0) return `Step of range should be a positive number: ${expression}`;
  }
  if (start < bounds.min) return `Beginning of range (${start}) below minimum (${bounds.min}): ${expression}`;
  if (end > bounds.max) return `End of range (${end}) above maximum (${bounds.max}): ${expression}`;
  if (start > end) return `Beginning of range (${start}) beyond end of range (${end}): ${expression}`;
  return undefined;
}

function parseNumber(text: string, { min, names }: Bounds): number | string {
  const name = names.indexOf(text.toLowerCase());
  if (name >= 0) return name + min;
  if (/^\+?\d{1,15}$/.test(text)) return Number(text);
  if (/^-\d{1,15}$/.test(text)) return `Negative number (${text}) not allowed: ${text}`;
  return `Failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`;
}
