import { parseTime } from '../../../base/machinery/values/time.js';
import type { Job } from '../../../objects/apis/batch/v1/job.types.js';

/**
 * How long a finished job is still kept, in milliseconds, 0 when its time is over; undefined when it has not finished or
 * is kept without a limit.
 *
 * @param now milliseconds since the epoch
 */
export function timeLeft(job: Readonly<Job>, now: number): number | undefined {
  const end = endOfTime(job);
  return end === undefined ? undefined : Math.max(0, end - now);
}

/** How long ago the time of a finished job was over, in milliseconds; 0 when it is not. */
export function overdue(job: Readonly<Job>, now: number): number {
  return Math.max(0, now - (endOfTime(job) ?? now));
}

function endOfTime({ spec, status }: Readonly<Job>): number | undefined {
  const ttl = spec.ttlSecondsAfterFinished;
  if (ttl === undefined || ttl === null) return undefined;
  const isEnd = ({ type, status: is }: { type: string; status: string }) =>
    (type === 'Complete' || type === 'Failed') && is === 'True';
  const end = (status.conditions ?? []).find(isEnd);
  if (end === undefined || !end.lastTransitionTime) return undefined;
  return parseTime(end.lastTransitionTime) + ttl * 1000;
}
