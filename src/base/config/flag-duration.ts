import { durationMilliseconds, formatDuration, parseDuration } from '../machinery/values/duration.js';
import { ValueFormatError } from '../machinery/values/value-format-error.js';

/** Reads a duration such as `1m0s`, `7d`, `250ms` or `0` as milliseconds; undefined when the text is not a duration. */
export function parseFlagDuration(text: string): number | undefined {
  try {
    return durationMilliseconds(parseDuration(text, { days: true }));
  } catch (error) {
    if (error instanceof ValueFormatError) return undefined;
    throw error;
  }
}

/** Writes milliseconds as `1h0m0s`, `1m0s`, `1.5s` or `250ms`. */
export function formatFlagDuration(milliseconds: number): string {
  return formatDuration(BigInt(Math.round(milliseconds * 1e6)));
}
