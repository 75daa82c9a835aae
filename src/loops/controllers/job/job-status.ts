import { formatTime } from '../../../base/machinery/clock.js';
import { cloneJson } from '../../../base/machinery/json/exact-numbers.js';
import type { JobCondition, JobStatus } from '../../../objects/apis/batch/v1/job.types.js';
import { IndexSet } from './index-set.js';
import { type JobOutcome, trueCondition } from './job-outcome.js';
import { completionIndex, isDeleting, isFailed, isIndexed, isSuspended, type JobPod } from './job-pod.js';
import { countsAsFailed, type JobState } from './job-state.js';
import { lastFailures } from './per-index.js';

/** The most finished pods recorded in one write; later writes record the others. */
const mostNotedAtOnce = 500;

/** What to write after a run, and what to do afterwards. */
export interface JobReport {
  readonly status: JobStatus;
  /** Pods whose end the written status records: they may lose their finalizer after the write. */
  readonly release: readonly JobPod[];
  /** The condition that ends the job with this write. */
  readonly finished: JobCondition | undefined;
  /** The condition `Suspended`, when this write changes it. */
  readonly suspended: JobCondition | undefined;
}

export interface RunResult {
  /** How the job ends; undefined: it continues. */
  readonly outcome: JobOutcome | undefined;
  /** Pods that are left to run, and that are being deleted, after this run. */
  readonly active: number;
  readonly terminating: number;
  /** Whether the run managed the pods of the job: a job that is being deleted gets none. */
  readonly managed: boolean;
  readonly now: number;
}

/**
 * The status after a run. Each finished pod is counted once, whenever the work stops: its uid goes into
 * `uncountedTerminatedPods`, then the pod loses its finalizer, and only a run that sees it without one moves it to the
 * counter. Succeeded indexes need no such record, since `completedIndexes` names them.
 */
export function jobReport(state: JobState, { outcome, active, terminating, managed, now }: RunResult): JobReport {
  const { job } = state;
  const status: JobStatus = cloneJson(job.status) as JobStatus;
  if (!status.startTime && !isSuspended(job)) status.startTime = formatTime(now);
  moveCounted(state, status);
  const release = noteFinished(state, status, outcome);
  setCount(status, 'active', active);
  status.ready = Math.min(state.ready, active);
  status.terminating = terminating;
  const suspended = outcome === undefined && managed ? setSuspended(state, status, now) : undefined;
  const finished = outcome === undefined ? undefined : setOutcome(state, status, outcome, now);
  return { status, release, finished, suspended };
}

/** Counts the recorded pods that have lost their finalizer or are gone. */
function moveCounted({ tracked }: JobState, status: JobStatus): void {
  const left = new Set(tracked.map(({ metadata }) => metadata.uid));
  const noted = status.uncountedTerminatedPods ?? {};
  const next: typeof noted = {};
  for (const kind of ['succeeded', 'failed'] as const) {
    const uids = noted[kind] ?? [];
    const kept = uids.filter((uid) => left.has(uid));
    setCount(status, kind, (status[kind] ?? 0) + uids.length - kept.length);
    if (kept.length > 0) next[kind] = kept;
  }
  status.uncountedTerminatedPods = next;
}

/** Records pods that have ended, and returns all recorded pods that still have the finalizer. */
function noteFinished(state: JobState, status: JobStatus, outcome: JobOutcome | undefined): JobPod[] {
  const { job, names, tracked } = state;
  const indexed = isIndexed(job);
  const noted = status.uncountedTerminatedPods ?? {};
  const succeeded = new Set(noted.succeeded);
  const failed = new Set(noted.failed);
  const isOver = (index: number) => state.succeededIndexes.has(index) || state.failedIndexes?.has(index) === true;
  const kept =
    outcome === undefined ? lastFailures(job, state.pods, tracked, isOver, names) : new Map<number, JobPod>();
  const newIndexes: number[] = [];
  const release: JobPod[] = [];
  for (const pod of tracked) {
    const { uid = '' } = pod.metadata;
    const index = completionIndex(pod, job, names);
    const failure = isFailed(pod, job);
    const isOut = failure || outcome !== undefined || pod.status.phase === 'Succeeded' || isDeleting(job);
    if (!isOut) continue;
    if (index !== undefined && failure && !isDeleting(job) && kept.get(index) === pod) continue;
    release.push(pod);
    if (pod.status.phase === 'Succeeded' && !failed.has(uid)) {
      if (!indexed) succeeded.add(uid);
      else if (index !== undefined && !state.countedIndexes.has(index)) newIndexes.push(index);
    } else if (failure || outcome?.target === 'FailureTarget') {
      const isCounted = (!indexed || index !== undefined) && countsAsFailed(job, pod);
      if (isCounted && !succeeded.has(uid)) failed.add(uid);
    }
    if (newIndexes.length + succeeded.size + failed.size >= mostNotedAtOnce) break;
  }
  if (succeeded.size > 0) noted.succeeded = [...succeeded];
  if (failed.size > 0) noted.failed = [...failed];
  status.uncountedTerminatedPods = noted;
  if (indexed) setIndexes(state, status, state.countedIndexes.with(newIndexes));
  return release;
}

function setIndexes({ failedIndexes }: JobState, status: JobStatus, completed: IndexSet): void {
  setCount(status, 'succeeded', completed.size);
  if (completed.size > 0) status.completedIndexes = completed.toString();
  else delete status.completedIndexes;
  if (failedIndexes !== undefined) status.failedIndexes = failedIndexes.toString();
}

/** A suspended job has not started; a resumed one starts again, and its deadline counts from then on. */
function setSuspended({ job }: JobState, status: JobStatus, now: number): JobCondition | undefined {
  const suspended = isSuspended(job);
  const old = status.conditions?.find(({ type }) => type === 'Suspended');
  if (suspended ? old?.status === 'True' : old === undefined || old.status === 'False') return undefined;
  if (suspended) delete status.startTime;
  else status.startTime = formatTime(now);
  return setCondition(
    status,
    suspended
      ? { type: 'Suspended', status: 'True', reason: 'JobSuspended', message: 'Job suspended' }
      : { type: 'Suspended', status: 'False', reason: 'JobResumed', message: 'Job resumed' },
    now,
  );
}

/** Sets the condition that announces the outcome, and the final one when every pod has finished and is counted. */
function setOutcome(
  { job, tracked }: JobState,
  status: JobStatus,
  { target, reason, message }: JobOutcome,
  now: number,
): JobCondition | undefined {
  if (trueCondition(job, target) === undefined)
    setCondition(status, { type: target, status: 'True', reason, message }, now);
  const noted = status.uncountedTerminatedPods ?? {};
  const isCounted = tracked.length === 0 && (noted.succeeded ?? []).length + (noted.failed ?? []).length === 0;
  if (!isCounted || (status.active ?? 0) > 0 || (status.terminating ?? 0) > 0) return undefined;
  if (target === 'FailureTarget') return setCondition(status, { type: 'Failed', status: 'True', reason, message }, now);
  status.completionTime = formatTime(now);
  return setCondition(status, { type: 'Complete', status: 'True', reason, message }, now);
}

function setCondition(
  status: JobStatus,
  condition: Pick<JobCondition, 'type' | 'status' | 'reason' | 'message'>,
  now: number,
): JobCondition {
  const time = formatTime(now);
  const whole: JobCondition = { ...condition, lastProbeTime: time, lastTransitionTime: time };
  const conditions = [...(status.conditions ?? [])];
  const at = conditions.findIndex(({ type }) => type === condition.type);
  if (at < 0) conditions.push(whole);
  else conditions[at] = whole;
  status.conditions = conditions;
  return whole;
}

function setCount(status: JobStatus, field: 'active' | 'succeeded' | 'failed', count: number): void {
  if (count > 0) status[field] = count;
  else delete status[field];
}
