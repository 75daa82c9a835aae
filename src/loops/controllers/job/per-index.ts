import { isPodActive } from '../frame/pod-state.js';
import { IndexSet } from './index-set.js';
import { remainingPauseMs } from './job-back-off.js';
import type { JobNames } from './job-names.js';
import {
  completionIndex,
  endedAt,
  indexFailures,
  isFailed,
  isIndexed,
  type JobPod,
  type StoredJob,
} from './job-pod.js';
import { judgeFailure } from './pod-failure-policy.js';

export function limitsEachIndex(job: StoredJob): boolean {
  return isIndexed(job) && job.spec.backoffLimitPerIndex !== undefined;
}

/**
 * The indexes that have failed for good: those in the status, and those whose tracked pods failed once too often or
 * match a rule of the policy. Undefined for a job without a limit per index.
 */
export function failedIndexes(
  job: StoredJob,
  tracked: readonly JobPod[],
  succeeded: IndexSet,
  names: JobNames,
): IndexSet | undefined {
  if (!limitsEachIndex(job)) return undefined;
  const counted = IndexSet.parse(job.status.failedIndexes, job.spec.completions);
  const found: number[] = [];
  for (const pod of tracked) {
    const index = completionIndex(pod, job, names);
    if (index === undefined || succeeded.has(index) || !isFailed(pod, job)) continue;
    const { action, counts } = judgeFailure(job.spec.podFailurePolicy, pod);
    const isLast = counts && indexFailures(pod, names).counted >= (job.spec.backoffLimitPerIndex ?? 0);
    if (action === 'FailIndex' || isLast) found.push(index);
  }
  return counted.with(found);
}

/**
 * The last failed pod of each index to be retried: it keeps its finalizer until the next pod exists, since only its
 * annotations record how often the index has failed.
 */
export function lastFailures(
  job: StoredJob,
  pods: readonly JobPod[],
  tracked: readonly JobPod[],
  ended: (index: number) => boolean,
  names: JobNames,
): ReadonlyMap<number, JobPod> {
  const last = new Map<number, JobPod>();
  if (!limitsEachIndex(job)) return last;
  const running = new Set(pods.filter(isPodActive).map((pod) => completionIndex(pod, job, names)));
  const failures = (pod: JobPod) => {
    const { counted, ignored } = indexFailures(pod, names);
    return counted + ignored;
  };
  for (const pod of tracked) {
    const index = completionIndex(pod, job, names);
    if (index === undefined || ended(index) || running.has(index) || !isFailed(pod, job)) continue;
    const other = last.get(index);
    if (other === undefined || failures(other) < failures(pod)) last.set(index, pod);
  }
  return last;
}

/** The annotations of the pod that comes after a failed one, or of the first pod of an index. */
export function failureAnnotations(
  job: StoredJob,
  failed: JobPod | undefined,
  names: JobNames,
): Readonly<Record<string, string>> {
  if (failed === undefined) return { [names.indexFailureCount]: '0' };
  const { counted, ignored } = indexFailures(failed, names);
  const counts = judgeFailure(job.spec.podFailurePolicy, failed).counts;
  const ignoredNow = counts ? ignored : ignored + 1;
  return {
    [names.indexFailureCount]: String(counts ? counted + 1 : counted),
    ...(ignoredNow === 0 ? {} : { [names.indexIgnoredFailureCount]: String(ignoredNow) }),
  };
}

/** How long an index has to wait for its next pod, in milliseconds. */
export function indexPauseMs(failed: JobPod | undefined, now: number, names: JobNames): number {
  if (failed === undefined) return 0;
  const { counted, ignored } = indexFailures(failed, names);
  return remainingPauseMs(counted + ignored + 1, endedAt(failed), now);
}
