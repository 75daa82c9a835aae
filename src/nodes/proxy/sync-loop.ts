import { Backoff } from '../../base/machinery/backoff.js';
import type { Timers } from '../../base/machinery/timers.js';

export interface SyncLoopDependencies {
  readonly timers: Timers;
  /** The least time between the beginnings of two runs. */
  readonly minPeriodMs: number;
  /** After this time without a run, `check` runs; after a failure, another run does. */
  readonly periodMs: number;
  /** @returns whether the run succeeded */
  readonly run: () => Promise<boolean>;
  /** @returns whether a run is needed */
  readonly check: () => Promise<boolean>;
}

/** Runs after each request, never twice at a time, and not more often than allowed. */
export class SyncLoop {
  private isRequested = false;
  private wake: AbortController | undefined;

  constructor(private readonly dependencies: SyncLoopDependencies) {}

  request(): void {
    this.isRequested = true;
    this.wake?.abort();
  }

  /** Resolves after the abort, when the last run has ended. */
  async run(signal: AbortSignal): Promise<void> {
    const { timers, minPeriodMs, periodMs, run, check } = this.dependencies;
    const backoff = new Backoff({ firstMs: Math.min(1_000, periodMs), longestMs: periodMs });
    while (!signal.aborted) {
      if (!this.isRequested) await this.sleep(periodMs, signal);
      if (signal.aborted) return;
      if (!this.isRequested && !(await check()) && !this.isRequested) continue;
      this.isRequested = false;
      const began = timers.elapsed();
      const succeeded = await run();
      if (succeeded) backoff.reset();
      else this.isRequested = true;
      const pauseMs = succeeded ? minPeriodMs - (timers.elapsed() - began) : backoff.next();
      if (pauseMs > 0) await timers.wait(pauseMs, signal);
    }
  }

  private async sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
    this.wake = new AbortController();
    await this.dependencies.timers.wait(milliseconds, AbortSignal.any([signal, this.wake.signal]));
    this.wake = undefined;
  }
}
