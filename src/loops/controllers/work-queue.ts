import { setImmediate } from 'node:timers/promises';
import type { Timers } from '../../base/machinery/timers.js';
import { FaultBudget } from './fault-budget.js';
import { namespaceOfKey, TurnQueue, type WaitingKey } from './turn-queue.js';

/**
 * What happens to a key after work on it: `done` ends it, `later` retries it after a pause that doubles each time, and
 * a number retries it after that many milliseconds.
 */
export type WorkOutcome = 'done' | 'later' | number;

export interface WorkQueueOptions {
  /** Works on one key. An error is reported and counts as `later`. */
  readonly work: (key: string, signal: AbortSignal) => Promise<WorkOutcome>;
  /**
   * Told of an error, but not again while further work on the key fails with the same message, and of few at a time:
   * `untold` errors since the last call were only counted.
   */
  readonly onFault: (key: string, error: unknown, untold: number) => void;
  /**
   * How many keys are worked on at once, in all and of one party. If there are several, as many again serve parties that
   * have none, so keys that take long hold up only their own party.
   */
  readonly workers: number;
  /** Whose turn a key takes; default: that of its namespace, the text before the first slash. */
  readonly partyOf?: (key: string) => string;
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  readonly timers: Timers;
  readonly observer?: QueueObserver | undefined;
}

/** Is told what happens in a queue. */
export interface QueueObserver {
  added(): void;
  /** How many keys wait now. */
  depth(keys: number): void;
  /** Work on a key did not come to its end, and is tried again after a pause. */
  retried(): void;
  /** Work on a key begins, which waited so long; the answer is called at its end. */
  began(waitedMs: number): () => void;
  /** Does the work on a key, and may note how it goes. */
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
}

/**
 * A queue of keys that need work. A key waits at most once, and only one worker works on it at a time. A key added
 * during its work is worked on again afterwards. Parties (namespaces, if nothing else is said) take turns, so a key waits for
 * one key of each other party, not for all of them.
 */
export class WorkQueue {
  private readonly waiting: TurnQueue;
  private readonly active = new Map<string, Promise<void>>();
  /** How many keys of each party are under work. */
  private readonly busy = new Map<string, number>();
  private readonly mostActive: number;
  /** Keys added during work on them. */
  private readonly again = new Set<string>();
  /** When a postponed key is due. Adding the key cancels the postponement. */
  private readonly postponed = new Map<string, number>();
  private readonly pauses = new Map<string, number>();
  /** Messages of the last errors of keys whose work failed. */
  private readonly faults = new Map<string, string>();
  private readonly budget: FaultBudget;
  private signal: AbortSignal | undefined;

  constructor(private readonly options: WorkQueueOptions) {
    const { timers, workers, partyOf = namespaceOfKey } = options;
    this.budget = new FaultBudget(timers);
    this.waiting = new TurnQueue(partyOf);
    // A single worker may mean that no two keys may be worked on at once.
    this.mostActive = workers === 1 ? 1 : workers * 2;
  }

  /** Queues the key for the next free worker. */
  add(key: string): void {
    this.postponed.delete(key);
    if (this.active.has(key)) this.again.add(key);
    else this.wait(key);
    this.dispatch();
  }

  /** Queues the key after a while, unless it waits already or is due earlier. */
  addAfter(key: string, milliseconds: number): void {
    if (this.waiting.has(key) || this.again.has(key)) return;
    const due = this.postponed.get(key);
    const { signal } = this;
    // Before the start everything is worked on at once.
    if (signal === undefined) this.add(key);
    else if (due === undefined || due > this.options.timers.elapsed() + milliseconds) {
      this.postpone(key, milliseconds, signal);
    }
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
    while (this.active.size < this.mostActive) {
      const next = this.waiting.take(this.mayBegin);
      if (next === undefined) break;
      this.begin(next, signal);
    }
    this.options.observer?.depth(this.waiting.size);
  }

  private readonly mayBegin = (party: string): boolean => {
    const { workers } = this.options;
    const busy = this.busy.get(party) ?? 0;
    return this.active.size < workers ? busy < workers : busy === 0;
  };

  private begin({ key, party, since }: WaitingKey, signal: AbortSignal): void {
    const { observer, timers } = this.options;
    const ended = observer?.began(timers.elapsed() - since);
    this.busy.set(party, (this.busy.get(party) ?? 0) + 1);
    const left = () => {
      const busy = (this.busy.get(party) ?? 0) - 1;
      if (busy > 0) this.busy.set(party, busy);
      else this.busy.delete(party);
    };
    this.active.set(
      key,
      // Work that asks for itself again at once must not keep everything else from running.
      setImmediate()
        .then(() => this.process(key, left, signal))
        .finally(ended),
    );
  }

  private async process(key: string, left: () => void, signal: AbortSignal): Promise<void> {
    let outcome: WorkOutcome;
    try {
      const { work, observer } = this.options;
      outcome = await (observer === undefined ? work(key, signal) : observer.run(key, () => work(key, signal)));
      if (outcome === 'done') this.faults.delete(key);
    } catch (error) {
      outcome = 'later';
      if (!signal.aborted) this.report(key, error);
    }
    this.active.delete(key);
    left();
    if (signal.aborted) return;
    if (outcome !== 'later') this.pauses.delete(key);
    // A time that was asked for is no failure.
    if (outcome === 'later') this.options.observer?.retried();
    if (this.again.delete(key)) this.wait(key);
    else if (outcome !== 'done') {
      const pauseMs = outcome === 'later' ? this.nextPause(key) : outcome;
      const due = this.postponed.get(key);
      // The work itself may have asked for an earlier time.
      if (due === undefined || due > this.options.timers.elapsed() + pauseMs) this.postpone(key, pauseMs, signal);
    }
    this.dispatch();
  }

  private wait(key: string): void {
    if (!this.waiting.add(key, this.options.timers.elapsed())) return;
    this.options.observer?.added();
  }

  private report(key: string, error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    if (this.faults.get(key) === message) return;
    const untold = this.budget.take();
    if (untold === undefined) return;
    this.faults.set(key, message);
    this.options.onFault(key, error, untold);
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
