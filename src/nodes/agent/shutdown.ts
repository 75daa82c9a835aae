import { execFile } from 'node:child_process';
import { promises as fs } from 'node:fs';
import { promisify } from 'node:util';
import type { Timers } from '../../base/machinery/timers.js';
import type { PodManager } from './pod-manager.js';
import type { PodWorker } from './pods/pod-worker.js';

/** How long pods have to end when the machine shuts down. */
export interface ShutdownTimes {
  readonly totalMs: number;
  /** The part of that time that is reserved for critical pods. */
  readonly criticalMs: number;
}

const criticalPriority = 2_000_000_000;
const lookMs = 100;
/** The grace period of pods that are ending already. */
const shortSeconds = 2;
/** The least time that is left for the last statuses. */
const reportMs = 2_000;

/**
 * Whether the stop signal means that the machine shuts down, which systemd reports. Without systemd, only a shutdown
 * would send this signal to an agent that is meant to end its pods.
 */
export async function isMachineStopping(): Promise<boolean> {
  const hasSystemd = await fs.stat('/run/systemd/system').then(
    () => true,
    () => false,
  );
  if (!hasSystemd) return true;
  // The command prints the state and exits with a code other than 0.
  const answer = await promisify(execFile)('systemctl', ['is-system-running']).catch(
    (error: { stdout?: string }) => error,
  );
  return (answer.stdout ?? '').trim() === 'stopping';
}

/** Ends all pods, critical ones after the others, and waits until the API has recorded that or the time is over. */
export async function endPods(manager: PodManager, times: ShutdownTimes, timers: Timers): Promise<void> {
  const reason = 'Terminated';
  const message = 'Pod was terminated in response to imminent node shutdown.';
  const workers = [...manager.workersOf()].filter((worker) => !worker.isOver);
  const began = timers.elapsed();
  const ordinaryMs = times.totalMs - times.criticalMs;
  const groups: readonly (readonly [readonly PodWorker[], number, number])[] = [
    [workers.filter((worker) => !isCritical(worker)), ordinaryMs, ordinaryMs],
    [workers.filter(isCritical), times.criticalMs, times.totalMs],
  ];
  for (const [group, graceMs, untilMs] of groups) {
    for (const worker of group) {
      const own = Number(worker.declaration.spec.terminationGracePeriodSeconds ?? 30);
      const graceSeconds = Math.min(own, Math.floor(graceMs / 1000));
      if (worker.isEnding) worker.hurryUp(shortSeconds);
      else worker.fail({ reason, message, isDisruption: true }, graceSeconds);
    }
    await until(() => group.every(({ isOver }) => isOver), began + untilMs, timers);
  }
  const isReported = () => workers.every(({ isOver, writer }) => !isOver || writer.isWritten);
  await until(isReported, Math.max(began + times.totalMs, timers.elapsed() + reportMs), timers);
}

function isCritical({ isStatic, declaration: { spec } }: PodWorker): boolean {
  return isStatic || (spec.priority ?? 0) >= criticalPriority;
}

async function until(isDone: () => boolean, at: number, timers: Timers): Promise<void> {
  const never = new AbortController().signal;
  while (!isDone() && timers.elapsed() < at) await timers.wait(lookMs, never);
}
