import { errorText } from '../../../base/machinery/startup-error.js';
import type { Timers } from '../../../base/machinery/timers.js';
import type { Logger } from '../../../base/observability/logger.js';

export interface DiskWatchDependencies {
  /** The pods that have limits, by their uids. */
  readonly pods: () => readonly string[];
  /** Measures a pod, which may take long, and ends the pod if it exceeds a limit. */
  readonly check: (uid: string) => Promise<void>;
  readonly timers: Timers;
  readonly logger: Logger;
}

/** The usual interval between two measurements of a pod. */
const everyMs = 10_000;
/** After a slow measurement, the pod is not measured again for this many times its duration. */
const restFactor = 10;
/** How many pods are measured at the same time: one with very many files must not delay the others. */
const lanes = 2;

/** Measures the disk usage of pods in the background, a few at a time, in turn. */
export class DiskWatch {
  private readonly dueAt = new Map<string, number>();
  private readonly busy = new Set<string>();

  constructor(private readonly dependencies: DiskWatchDependencies) {}

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(Array.from({ length: lanes }, () => this.lane(signal)));
  }

  private async lane(signal: AbortSignal): Promise<void> {
    const { timers } = this.dependencies;
    while (!signal.aborted) {
      const now = timers.elapsed();
      const next = this.next();
      if (next === undefined || next.at > now) {
        await timers.wait(Math.min(everyMs, next === undefined ? everyMs : next.at - now), signal);
        continue;
      }
      await this.measure(next.uid, now);
    }
  }

  /** The pod whose measurement is due first. */
  private next(): { readonly uid: string; readonly at: number } | undefined {
    const pods = this.dependencies.pods();
    const known = new Set(pods);
    for (const uid of this.dueAt.keys()) if (!known.has(uid)) this.dueAt.delete(uid);
    let first: { uid: string; at: number } | undefined;
    for (const uid of pods) {
      const at = this.dueAt.get(uid) ?? 0;
      if (!this.busy.has(uid) && (first === undefined || at < first.at)) first = { uid, at };
    }
    return first;
  }

  private async measure(uid: string, began: number): Promise<void> {
    const { timers, check, logger } = this.dependencies;
    this.busy.add(uid);
    try {
      await check(uid);
    } catch (error) {
      logger.debug('the use of the disk by a pod could not be measured', { uid, error: errorText(error) });
    } finally {
      this.busy.delete(uid);
      const ended = timers.elapsed();
      this.dueAt.set(uid, ended + Math.max(everyMs, restFactor * (ended - began)));
    }
  }
}
