import { parseTime } from '../../../base/machinery/values/time.js';
import type { Job } from '../../../objects/apis/batch/v1/job.types.js';

/**
 * How long a finished job is still kept, in milliseconds, 0 when its time is over; undefined when it has not finished or
 * is kept without a limit.
 *
 * @param now milliseconds since the epoch
 */
export function timeLeft({ spec, status }: Readonly<Job>, now: number): number | undefined {
  const ttl = spec.ttlSecondsAfterFinished;
  if (ttl === undefined || ttl === null) return undefined;
  const isEnd = ({ type, status: is }: { type: string; status: string }) =>
    (type === 'Complete' || type === 'Failed') && is === 'True';
  const end = (status.conditions ?? []).find(isEnd);
  if (end === undefined || !end.lastTransitionTime) return undefined;
  return Math.max(0, parseTime(end.lastTransitionTime) + ttl * 1000 - now);
}
