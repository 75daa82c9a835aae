import { type PauseRange, pauseAfter } from '../../../base/machinery/backoff.js';
import { endedAt, isFailed, type JobPod, type StoredJob } from './job-pod.js';

const pauses: PauseRange = { firstMs: 10_000, longestMs: 600_000 };

/** How much of the pause after the last of `failures` in a row is left, in milliseconds. */
export function remainingPauseMs(failures: number, lastFailureAt: number, now: number): number {
  if (failures <= 0) return 0;
  return Math.max(0, lastFailureAt + pauseAfter(failures, pauses) - now);
}

/**
 * The failures of a job since its last success, which determine how long it waits before it replaces failed pods. After
 * a restart they are read from the remaining pods.
 */
export class JobBackOff {
  private readonly failures = new Map<string, number>();
  private lastSuccessAt = Number.NEGATIVE_INFINITY;

  /** Records the pods that have finished. Repeated calls do no harm. */
  observe(job: StoredJob, pods: Iterable<JobPod>): void {
    for (const pod of pods) {
      if (pod.status.phase === 'Succeeded') this.lastSuccessAt = Math.max(this.lastSuccessAt, endedAt(pod));
      else if (isFailed(pod, job)) {
        const { uid = '' } = pod.metadata;
        if (!this.failures.has(uid)) this.failures.set(uid, endedAt(pod));
      }
    }
    for (const [uid, at] of this.failures) if (at < this.lastSuccessAt) this.failures.delete(uid);
  }

  /** How long the job has to wait before it makes pods, in milliseconds. */
  remainingMs(now: number): number {
    return remainingPauseMs(this.failures.size, Math.max(0, ...lastOf(this.failures.values())), now);
  }
}

/** The greatest value, if there is one. */
function lastOf(values: Iterable<number>): number[] {
  let last: number | undefined;
  for (const value of values) if (last === undefined || value > last) last = value;
  return last === undefined ? [] : [last];
}
