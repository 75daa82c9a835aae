import { isPodActive, isPodReady, isPodTerminating } from '../frame/pod-state.js';
import { IndexSet } from './index-set.js';
import type { JobNames } from './job-names.js';
import { completionIndex, isFailed, isIndexed, isTracked, type JobPod, type StoredJob } from './job-pod.js';
import { failedIndexes } from './per-index.js';
import { judgeFailure } from './pod-failure-policy.js';

/** What is known about a job and its pods at one time. Pods are counted while they have the tracking finalizer. */
export interface JobState {
  readonly job: StoredJob;
  readonly names: JobNames;
  readonly pods: readonly JobPod[];
  /** The pods with the finalizer, in the order of their indexes. */
  readonly tracked: readonly JobPod[];
  readonly active: readonly JobPod[];
  readonly ready: number;
  readonly terminating: number;
  /** Pods, or indexes, that have succeeded, whether the status counts them already or not. */
  readonly succeeded: number;
  /** Failures that count towards the limit, whether the status counts them already or not. */
  readonly failed: number;
  /** The succeeded indexes in the status, within the completions that the job has now. */
  readonly countedIndexes: IndexSet;
  readonly succeededIndexes: IndexSet;
  /** The indexes that have failed; undefined without a limit per index. */
  readonly failedIndexes: IndexSet | undefined;
}

export function jobState(job: StoredJob, pods: readonly JobPod[], names: JobNames): JobState {
  const indexed = isIndexed(job);
  const indexOf = (pod: JobPod) => completionIndex(pod, job, names);
  const tracked = pods.filter((pod) => isTracked(pod, names));
  if (indexed) tracked.sort((a, b) => (indexOf(a) ?? -1) - (indexOf(b) ?? -1));
  const { succeeded: uncountedSuccesses = [], failed: uncountedFailures = [] } =
    job.status.uncountedTerminatedPods ?? {};
  const noted = new Set([...uncountedSuccesses, ...uncountedFailures]);
  const fresh = tracked.filter((pod) => !noted.has(pod.metadata.uid ?? ''));
  const newSuccesses = fresh.filter((pod) => pod.status.phase === 'Succeeded');
  const newFailures = fresh.filter(
    (pod) => isFailed(pod, job) && (!indexed || indexOf(pod) !== undefined) && countsAsFailed(job, pod),
  );
  const active = pods.filter(isPodActive);
  const countedIndexes = indexed ? IndexSet.parse(job.status.completedIndexes, job.spec.completions) : IndexSet.empty;
  const succeededIndexes = countedIndexes.with(newSuccesses.map(indexOf).filter((index) => index !== undefined));
  return {
    job,
    names,
    pods,
    tracked,
    active,
    ready: active.filter(isPodReady).length,
    terminating: pods.filter(isPodTerminating).length,
    succeeded: indexed
      ? succeededIndexes.size
      : (job.status.succeeded ?? 0) + uncountedSuccesses.length + newSuccesses.length,
    failed: (job.status.failed ?? 0) + uncountedFailures.length + newFailures.length,
    countedIndexes,
    succeededIndexes,
    failedIndexes: failedIndexes(job, tracked, succeededIndexes, names),
  };
}

/** Whether the failure of the pod counts: the policy does not ignore it. */
export function countsAsFailed({ spec }: StoredJob, pod: JobPod): boolean {
  return judgeFailure(spec.podFailurePolicy, pod).counts;
}
