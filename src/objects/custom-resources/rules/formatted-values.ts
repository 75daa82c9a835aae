import { parseDuration } from '../../../base/machinery/values/duration.js';
import { ValueFormatError } from '../../../base/machinery/values/value-format-error.js';
import { CelError, Span, Timestamp } from '../../cel/index.js';

/** Converts a string of the format `date` to the instant at which that day begins. */
export function readDate(text: string): Timestamp {
  return Timestamp.parse(`${text}T00:00:00Z`);
}

/** Converts a string of the format `date-time`. */
export function readDateTime(text: string): Timestamp {
  return Timestamp.parse(text);
}

const nanosecondsOf: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
  d: 86_400_000_000_000n,
  w: 604_800_000_000_000n,
};

/** Converts a string of the format `duration`: `1h30m`, or in words as `2 days`. */
export function readDuration(text: string): Span {
  try {
    return Span.of(parseDuration(text, { days: true }));
  } catch (error) {
    if (!(error instanceof ValueFormatError)) throw error;
  }
  const match = /^\s*(\d{1,15})\s*([a-zµ]+)\s*$/.exec(text.slice(0, 64));
  const word = match?.[2] ?? '';
  const unit = nanosecondsOf[words.find(([pattern]) => pattern.test(word))?.[1] ?? ''];
  if (match === null || unit === undefined) throw new CelError(`invalid duration ${JSON.stringify(text.slice(0, 64))}`);
  return Span.of(BigInt(match[1] as string) * unit);
}

const words: readonly (readonly [RegExp, string])[] = [
  [/^(?:ns|nano|nanos|nanosecond|nanoseconds)$/, 'ns'],
  [/^(?:us|µs|micro|micros|microsecond|microseconds)$/, 'us'],
  [/^(?:ms|milli|millis|millisecond|milliseconds)$/, 'ms'],
  [/^(?:s|sec|secs|second|seconds)$/, 's'],
  [/^(?:m|min|mins|minute|minutes)$/, 'm'],
  [/^(?:h|hr|hour|hours)$/, 'h'],
  [/^(?:d|day|days)$/, 'd'],
  [/^(?:w|wk|week|weeks)$/, 'w'],
];

/** Converts a string of the format `byte`, in base64. */
export function readBytes(text: string): Uint8Array {
  return Buffer.from(text, 'base64');
}
