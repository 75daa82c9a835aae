import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { CronSchedule } from '../../../base/machinery/values/cron-schedule.js';
import { lastTime, nextTime } from '../../../base/machinery/values/cron-times.js';
import { parseTime } from '../../../base/machinery/values/time.js';
import type { TimeZone } from '../../../base/machinery/values/time-zone.js';
import type { CronJob } from '../../../objects/apis/batch/v1/cron-job.types.js';

export type StoredCronJob = CronJob & ApiObject;

/** What the schedule of a cron job requests at some time. Times are milliseconds since the epoch. */
export interface DueRun {
  /** The latest scheduled time that had no run and is not too late; undefined: none. */
  readonly at: number | undefined;
  /** Whether more than 100 runs were missed. */
  readonly isFarBehind: boolean;
  /** The next time of the schedule. */
  readonly next: number | undefined;
}

const mostMissed = 100;

/** The run that is due at `now`: of several missed runs only the last one is made up for. */
export function dueRun(
  { metadata, spec, status }: StoredCronJob,
  schedule: CronSchedule,
  zone: TimeZone,
  now: number,
): DueRun {
  const { startingDeadlineSeconds: deadline } = spec;
  const lastRun = parseTime(status.lastScheduleTime ?? metadata.creationTimestamp ?? '');
  const since = deadline === undefined ? lastRun : Math.max(lastRun, now - Number(deadline) * 1000);
  return {
    at: lastTime(schedule, zone, since, now),
    isFarBehind: isFarBehind(schedule, zone, since, now),
    next: nextTime(schedule, zone, now),
  };
}

/** Decides by the interval between the first two times. */
function isFarBehind(schedule: CronSchedule, zone: TimeZone, since: number, now: number): boolean {
  const first = nextTime(schedule, zone, since);
  if (first === undefined || first > now) return false;
  const second = nextTime(schedule, zone, first);
  return second !== undefined && Math.floor((now - first) / (second - first)) + 1 > mostMissed;
}
