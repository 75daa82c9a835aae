import type { Timers } from '../../../base/machinery/timers.js';
import type { PodManager } from '../pod-manager.js';
import type { PodWorker } from '../pods/pod-worker.js';
import { byShutdownGroup, criticalPriority, type ShutdownGroup } from './shutdown-groups.js';

const lookMs = 100;
/** The grace period of pods that are ending already. */
const shortSeconds = 2;
/** The least time that is left for the last pods to be over, and for their statuses. */
const reportMs = 2_000;

/**
 * Ends all pods, one group after the other, the least important first, and waits until the API has recorded that or the
 * time is over. Groups without pods take no time.
 */
export async function endPods(manager: PodManager, groups: readonly ShutdownGroup[], timers: Timers): Promise<void> {
  const reason = 'Terminated';
  const message = 'Pod was terminated in response to imminent node shutdown.';
  const workers = [...manager.workersOf()].filter((worker) => !worker.isOver);
  const began = timers.elapsed();
  for (const [{ graceMs }, group] of byShutdownGroup(workers, groups, priorityOf)) {
    const mostSeconds = Math.floor(graceMs / 1000);
    for (const worker of group) {
      const own = Number(worker.declaration.spec.terminationGracePeriodSeconds ?? 30);
      if (worker.isEnding) worker.hurryUp(Math.min(shortSeconds, mostSeconds));
      else worker.fail({ reason, message, isDisruption: true }, Math.min(own, mostSeconds));
    }
    await until(() => group.every(({ isOver }) => isOver), timers.elapsed() + graceMs, timers);
  }
  const totalMs = groups.reduce((sum, { graceMs }) => sum + graceMs, 0);
  // Those that were killed at the very end are over a moment later.
  const areReported = () => workers.every(({ isOver, writer }) => isOver && writer.isWritten);
  await until(areReported, Math.max(began + totalMs, timers.elapsed() + reportMs), timers);
}

/** Static pods are as important as critical ones. */
function priorityOf({ isStatic, declaration: { spec } }: PodWorker): number {
  return isStatic ? Math.max(criticalPriority, spec.priority ?? 0) : (spec.priority ?? 0);
}

async function until(isDone: () => boolean, at: number, timers: Timers): Promise<void> {
  const never = new AbortController().signal;
  while (!isDone() && timers.elapsed() < at) await timers.wait(lookMs, never);
}
