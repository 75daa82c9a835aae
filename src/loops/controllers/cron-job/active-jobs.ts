import { cloneJson } from '../../../base/machinery/json/exact-numbers.js';
import type { CronJobStatus } from '../../../objects/apis/batch/v1/cron-job.types.js';
import type { ObjectReference } from '../../../objects/apis/core/v1/reference.types.js';
import type { StoredJob } from '../job/job-pod.js';
import type { StoredCronJob } from './due-run.js';

/** Something to report about a cron job. */
export interface CronNews {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** The effect of a cron job's jobs on its status. */
export interface JobReview {
  /** A copy that may be changed. */
  readonly status: CronJobStatus;
  readonly news: readonly CronNews[];
  /** Jobs that the status lists as active but that were not found. */
  readonly missing: readonly ObjectReference[];
}

/** The type of the condition that ended a job. */
export function jobEndOf({ status }: StoredJob): 'Complete' | 'Failed' | undefined {
  const found = status.conditions?.find(
    (condition) => (condition.type === 'Complete' || condition.type === 'Failed') && condition.status === 'True',
  );
  return found?.type as 'Complete' | 'Failed' | undefined;
}

/** Removes finished jobs from the list of active ones and records the last success. */
export function reviewJobs(cronJob: StoredCronJob, jobs: readonly StoredJob[]): JobReview {
  const status = cloneJson(cronJob.status) as CronJobStatus;
  const news: CronNews[] = [];
  const active = new Map((status.active ?? []).map((reference) => [reference.uid, reference]));
  for (const job of jobs) {
    const { uid, name } = job.metadata;
    const end = jobEndOf(job);
    if (end === undefined) {
      if (active.has(uid)) continue;
      const message = `Saw a job that the controller did not create or forgot: ${name}`;
      news.push({ type: 'Warning', reason: 'UnexpectedJob', message });
      continue;
    }
    if (active.delete(uid)) {
      news.push({
        type: 'Normal',
        reason: 'SawCompletedJob',
        message: `Saw completed job: ${name}, condition: ${end}`,
      });
    }
    const { completionTime } = job.status;
    // The times have one format, so they can be compared as strings.
    if (end === 'Complete' && completionTime && completionTime > (status.lastSuccessfulTime ?? '')) {
      status.lastSuccessfulTime = completionTime;
    }
  }
  setActive(status, [...active.values()]);
  const known = new Set(jobs.map(({ metadata }) => metadata.uid));
  return { status, news, missing: [...active.values()].filter(({ uid }) => !known.has(uid)) };
}

/** Sets the list of active jobs in `status`. */
export function setActive(status: CronJobStatus, active: ObjectReference[]): void {
  if (active.length === 0) delete status.active;
  else status.active = active;
}

export function referenceTo({ kind, apiVersion, metadata }: StoredJob): ObjectReference {
  const { namespace, name, uid, resourceVersion } = metadata;
  return { kind, apiVersion, namespace, name, uid, resourceVersion } as ObjectReference;
}

/** The finished jobs that exceed the history limits, oldest first. */
export function outlivedJobs({ spec }: StoredCronJob, jobs: readonly StoredJob[]): StoredJob[] {
  const { successfulJobsHistoryLimit, failedJobsHistoryLimit } = spec;
  const beyond = (end: 'Complete' | 'Failed', limit: number | undefined) => {
    if (limit === undefined) return [];
    const ended = jobs.filter((job) => jobEndOf(job) === end).sort(byStart);
    return ended.slice(0, Math.max(0, ended.length - limit));
  };
  return [...beyond('Complete', successfulJobsHistoryLimit), ...beyond('Failed', failedJobsHistoryLimit)];
}

function byStart(a: StoredJob, b: StoredJob): number {
  const [left, right] = [a, b].map(
    ({ status, metadata }) => `${status.startTime ?? metadata.creationTimestamp} ${metadata.name}`,
  ) as [string, string];
  return left < right ? -1 : left > right ? 1 : 0;
}
