import type { Timers } from './timers.js';

/**
 * What happens to a key after work on it: `done` ends it, `later` retries it after a pause that doubles each time, and
 * a number retries it after that many milliseconds.
 */
export type WorkOutcome = 'done' | 'later' | number;

export interface WorkQueueOptions {
  /** Works on one key. An error is reported and counts as `later`. */
  readonly work: (key: string, signal: AbortSignal) => Promise<WorkOutcome>;
  /** Told of an error, but not again while further work on the key fails with the same message. */
  readonly onFault: (key: string, error: unknown) => void;
  readonly workers: number;
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  readonly timers: Timers;
}

/**
 * A queue of keys that need work. A key waits at most once, and only one worker works on it at a time. A key added
 * during its work is worked on again afterwards.
 */
export class WorkQueue {
  private readonly waiting = new Set<string>();
  private readonly active = new Map<string, Promise<void>>();
  /** Keys added during work on them. */
  private readonly again = new Set<string>();
  /** When a postponed key is due. Adding the key cancels the postponement. */
  private readonly postponed = new Map<string, number>();
  private readonly pauses = new Map<string, number>();
  /** Messages of the last errors of keys whose work failed. */
  private readonly faults = new Map<string, string>();
  private signal: AbortSignal | undefined;

  constructor(private readonly options: WorkQueueOptions) {}

  /** Queues the key for the next free worker. */
  add(key: string): void {
    this.postponed.delete(key);
    if (this.active.has(key)) this.again.add(key);
    else this.waiting.add(key);
    this.dispatch();
  }

  /** Works on added keys until the abort; returns when current work has ended. Call it once. */
  async run(signal: AbortSignal): Promise<void> {
    this.signal = signal;
    this.dispatch();
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });
    await Promise.all(this.active.values());
  }

  private dispatch(): void {
    const { signal } = this;
    if (signal === undefined || signal.aborted) return;
    for (const key of this.waiting) {
      if (this.active.size >= this.options.workers) return;
      this.waiting.delete(key);
      this.active.set(
        key,
        Promise.resolve().then(() => this.process(key, signal)),
      );
    }
  }

  private async process(key: string, signal: AbortSignal): Promise<void> {
    let outcome: WorkOutcome;
    try {
      outcome = await this.options.work(key, signal);
      if (outcome === 'done') this.faults.delete(key);
    } catch (error) {
      outcome = 'later';
      if (!signal.aborted) this.report(key, error);
    }
    this.active.delete(key);
    if (signal.aborted) return;
    if (outcome !== 'later') this.pauses.delete(key);
    if (this.again.delete(key)) this.waiting.add(key);
    else if (outcome !== 'done') this.postpone(key, outcome === 'later' ? this.nextPause(key) : outcome, signal);
    this.dispatch();
  }

  private report(key: string, error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    if (this.faults.get(key) === message) return;
    this.faults.set(key, message);
    this.options.onFault(key, error);
  }

  private nextPause(key: string): number {
    const { firstPauseMs, longestPauseMs } = this.options;
    const pause = Math.min(this.pauses.get(key) ?? firstPauseMs, longestPauseMs);
    this.pauses.set(key, pause * 2);
    return pause;
  }

  private postpone(key: string, milliseconds: number, signal: AbortSignal): void {
    const { timers } = this.options;
    const due = timers.elapsed() + milliseconds;
    this.postponed.set(key, due);
    void timers.wait(milliseconds, signal).then(() => {
      if (!signal.aborted && this.postponed.get(key) === due) this.add(key);
    });
  }
}
