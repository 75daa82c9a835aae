import type { JobCondition } from '../../../objects/apis/batch/v1/job.types.js';
import { isFailed, isIndexed, isSuspended, type StoredJob } from './job-pod.js';
import type { JobState } from './job-state.js';
import { judgeFailure } from './pod-failure-policy.js';
import { fulfilledRule } from './success-policy.js';

/**
 * How a job is going to end. The condition `target` reports this first; when all pods have ended and are counted,
 * `Complete` or `Failed` follows.
 */
export interface JobOutcome {
  readonly target: 'SuccessCriteriaMet' | 'FailureTarget';
  readonly reason: string;
  readonly message: string;
}

export const completionsReached: JobOutcome = {
  target: 'SuccessCriteriaMet',
  reason: 'CompletionsReached',
  message: 'Reached expected number of succeeded pods',
};

/** The condition of a type that is True. */
export function trueCondition({ status }: StoredJob, type: JobCondition['type']): JobCondition | undefined {
  return status.conditions?.find((condition) => condition.type === type && condition.status === 'True');
}

export function isFinished(job: StoredJob): boolean {
  return trueCondition(job, 'Complete') !== undefined || trueCondition(job, 'Failed') !== undefined;
}

/** Why the job has to end, whatever pods are still to run; undefined while there is no reason. */
export function endOf(state: JobState, now: number): JobOutcome | undefined {
  const { job } = state;
  return decided(job) ?? failureOf(state, now) ?? successOf(state);
}

/** The decision of an earlier run stays. */
function decided(job: StoredJob): JobOutcome | undefined {
  for (const target of ['SuccessCriteriaMet', 'FailureTarget'] as const) {
    const condition = trueCondition(job, target);
    if (condition !== undefined) return { target, reason: condition.reason ?? '', message: condition.message ?? '' };
  }
  return undefined;
}

function failureOf(state: JobState, now: number): JobOutcome | undefined {
  const { job, failed, failedIndexes, succeededIndexes } = state;
  const { backoffLimit = 6, maxFailedIndexes, completions = 0 } = job.spec;
  const failure = (reason: string, message: string): JobOutcome => ({ target: 'FailureTarget', reason, message });
  const byPolicy = policyFailure(state);
  if (byPolicy !== undefined) return failure('PodFailurePolicy', byPolicy);
  if (failed > backoffLimit || restartsTooOften(state, backoffLimit)) {
    return failure('BackoffLimitExceeded', 'Job has reached the specified backoff limit');
  }
  if (deadlineInMs(job, now) === 0) {
    return failure('DeadlineExceeded', 'Job was active longer than specified deadline');
  }
  if (failedIndexes === undefined || failedIndexes.size === 0) return undefined;
  if (maxFailedIndexes !== undefined && failedIndexes.size > maxFailedIndexes) {
    return failure('MaxFailedIndexesExceeded', 'Job has exceeded the specified maximal number of failed indexes');
  }
  return failedIndexes.size + succeededIndexes.size >= completions
    ? failure('FailedIndexes', 'Job has failed indexes')
    : undefined;
}

/** The message of a rule that ends the job. */
function policyFailure({ job, pods }: JobState): string | undefined {
  if (job.spec.podFailurePolicy === undefined) return undefined;
  for (const pod of pods) {
    if (!isFailed(pod, job)) continue;
    const { action, message } = judgeFailure(job.spec.podFailurePolicy, pod);
    if (action === 'FailJob') return message;
  }
  return undefined;
}

/** Containers that are restarted in place fail without a failed pod. */
function restartsTooOften({ job, pods }: JobState, backoffLimit: number): boolean {
  if (job.spec.template.spec.restartPolicy !== 'OnFailure') return false;
  let restarts = 0;
  for (const { status } of pods) {
    if (status.phase !== 'Running' && status.phase !== 'Pending') continue;
    for (const { restartCount } of [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]) {
      restarts += restartCount;
    }
  }
  return backoffLimit === 0 ? restarts > 0 : restarts >= backoffLimit;
}

/** Milliseconds until the job has been active for too long, 0 after that; undefined without a deadline. */
export function deadlineInMs(job: StoredJob, now: number): number | undefined {
  const { activeDeadlineSeconds } = job.spec;
  if (activeDeadlineSeconds === undefined || !job.status.startTime || isSuspended(job)) return undefined;
  // A job that has just been resumed still has its old start time.
  if (trueCondition(job, 'Suspended') !== undefined) return undefined;
  return Math.max(0, Date.parse(job.status.startTime) + Number(activeDeadlineSeconds) * 1000 - now);
}

function successOf({ job, succeededIndexes }: JobState): JobOutcome | undefined {
  if (!isIndexed(job)) return undefined;
  const message = fulfilledRule(job.spec.successPolicy, job.spec.completions ?? 0, succeededIndexes);
  return message === undefined ? undefined : { target: 'SuccessCriteriaMet', reason: 'SuccessPolicy', message };
}

/** Whether enough pods have succeeded. `active` is the number of pods left to run. */
export function isComplete({ job, succeeded }: JobState, active: number): boolean {
  if (active > 0) return false;
  return job.spec.completions === undefined ? succeeded > 0 : succeeded >= job.spec.completions;
}
