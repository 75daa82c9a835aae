import { isPodActive, isPodReady, isPodTerminating } from '../frame/pod-state.js';
import { completionIndex, isIndexed, isSuspended, type JobPod, replacesFailedOnly } from './job-pod.js';
import type { JobState } from './job-state.js';
import { indexPauseMs, lastFailures, limitsEachIndex } from './per-index.js';

/** A pod to be created. */
export interface NewJobPod {
  /** The completion index; undefined in a job without indexes. */
  readonly index: number | undefined;
  /** The failed pod of the index that this pod follows, in a job with a limit per index. */
  readonly after: JobPod | undefined;
}

/** What an active job does to its pods: it either removes or creates some. */
export interface PodChanges {
  readonly remove: readonly JobPod[];
  readonly create: readonly NewJobPod[];
  /** When there is more to do without any external change. */
  readonly againInMs: number | undefined;
}

/** The most pods that one run creates or removes. */
export const mostPodsAtOnce = 500;

const nothing: PodChanges = { remove: [], create: [], againInMs: undefined };

/**
 * The difference between the pods that run and those that should.
 *
 * @param pauseMs how long the job has to wait because of its failures
 */
export function podChanges(state: JobState, pauseMs: number, now: number): PodChanges {
  const { job, active, succeeded, failedIndexes } = state;
  const { parallelism = 1, completions } = job.spec;
  if (isSuspended(job)) return removal(active);
  const left = completions === undefined ? parallelism : completions - succeeded - (failedIndexes?.size ?? 0);
  // In a job without `completions`, no pods are created after the first success: the others only finish their work.
  const wanted = completions === undefined && succeeded > 0 ? active.length : Math.max(0, Math.min(parallelism, left));
  const surplus = podsToRemove(state, Math.max(0, active.length - wanted));
  if (surplus.length > 0) return removal(surplus);
  const terminating = replacesFailedOnly(job) ? state.terminating : 0;
  const missing = Math.min(wanted - terminating - active.length, mostPodsAtOnce);
  if (missing <= 0) return nothing;
  if (!limitsEachIndex(job) && pauseMs > 0) return { ...nothing, againInMs: pauseMs };
  if (!isIndexed(job)) {
    return { ...nothing, create: Array.from({ length: missing }, () => ({ index: undefined, after: undefined })) };
  }
  return newIndexes(state, missing, now);
}

function removal(pods: readonly JobPod[]): PodChanges {
  return {
    ...nothing,
    remove: pods.slice(0, mostPodsAtOnce),
    againInMs: pods.length > mostPodsAtOnce ? 0 : undefined,
  };
}

/**
 * The lowest indexes that have no pod. Indexes that failed recently wait, and meanwhile no other index takes their
 * place.
 */
function newIndexes(state: JobState, missing: number, now: number): PodChanges {
  const { job, names } = state;
  const taken = new Set<number | undefined>();
  const waitsForEnd = replacesFailedOnly(job);
  for (const pod of state.pods) {
    if (isPodActive(pod) || (waitsForEnd && isPodTerminating(pod))) taken.add(completionIndex(pod, job, names));
  }
  const isOver = (index: number) => state.succeededIndexes.has(index) || state.failedIndexes?.has(index) === true;
  const failures = lastFailures(job, state.pods, state.tracked, isOver, names);
  const create: NewJobPod[] = [];
  let againInMs: number | undefined;
  let seats = missing;
  const { completions = 0 } = job.spec;
  for (let index = nextIndex(state, 0); index < completions && seats > 0; index = nextIndex(state, index + 1)) {
    if (taken.has(index)) continue;
    seats -= 1;
    const after = failures.get(index);
    const pauseMs = indexPauseMs(after, now, names);
    if (pauseMs === 0) create.push({ index, after });
    else againInMs = Math.min(againInMs ?? pauseMs, pauseMs);
  }
  return { remove: [], create, againInMs };
}

/** The first index from this one on that is not finished. There may be very many finished ones. */
function nextIndex({ succeededIndexes, failedIndexes }: JobState, from: number): number {
  for (let index = from; ; ) {
    const next = succeededIndexes.firstFreeFrom(index);
    index = failedIndexes?.firstFreeFrom(next) ?? next;
    if (index === next) return index;
  }
}

/**
 * The active pods to remove first when there are `atLeast` too many. Includes all useless pods: a second pod of an
 * index, or one without an index of the job.
 */
function podsToRemove(state: JobState, atLeast: number): JobPod[] {
  const { job, names } = state;
  const sorted = [...state.active].sort(byProgress);
  if (!isIndexed(job)) return sorted.slice(0, atLeast);
  const useless: JobPod[] = [];
  const left: JobPod[] = [];
  const seen = new Set<number>();
  // The pod with the most progress is kept.
  for (const pod of sorted.toReversed()) {
    const index = completionIndex(pod, job, names);
    const isUseless = index === undefined || seen.has(index) || state.failedIndexes?.has(index) === true;
    if (isUseless || state.succeededIndexes.has(index)) useless.push(pod);
    else {
      seen.add(index);
      left.unshift(pod);
    }
  }
  return [...useless, ...left.slice(0, Math.max(0, atLeast - useless.length))];
}

const phases = ['Pending', 'Unknown', 'Running'];

/** Pods without a node come first, then those that wait, are not ready, or are the youngest. */
function byProgress(a: JobPod, b: JobPod): number {
  return (
    Number(Boolean(a.spec.nodeName)) - Number(Boolean(b.spec.nodeName)) ||
    phases.indexOf(a.status.phase ?? 'Unknown') - phases.indexOf(b.status.phase ?? 'Unknown') ||
    Number(isPodReady(a)) - Number(isPodReady(b)) ||
    Date.parse(b.metadata.creationTimestamp ?? '') - Date.parse(a.metadata.creationTimestamp ?? '')
  );
}
