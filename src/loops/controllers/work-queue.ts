import { setImmediate as scheduleImmediate } from 'node:timers';
import { setImmediate } from 'node:timers/promises';
import { pauseAfter } from '../../base/machinery/backoff.js';
import { invariant } from '../../base/machinery/invariant.js';
import { PartyQueue } from '../../base/machinery/party-queue.js';
import type { Timers } from '../../base/machinery/timers.js';
import { FaultBudget } from './fault-budget.js';
import { namespaceOfKey } from './namespace-of-key.js';
import type { PartyPace } from './party-pace.js';

/**
 * The outcome for a key after work on it: `done` ends it, `later` retries it after a pause that doubles each time, and
 * a number retries it after that many milliseconds.
 */
export type WorkOutcome = 'done' | 'later' | number;

/**
 * Waits on behalf of the work on a key. Meanwhile the key occupies no worker that other parties could use. Its own
 * party still has no more keys in progress than there are workers.
 */
export type Rest = <T>(wait: () => Promise<T>) => Promise<T>;

export interface WorkQueueOptions {
  /**
   * Works on one key. An error is reported and counts as `later`. While the work waits for something that concerns only
   * its own party, it may rest (see {@link Rest}).
   */
  readonly work: (key: string, signal: AbortSignal, rest: Rest) => Promise<WorkOutcome>;
  /**
   * Receives an error, but not again while further work on the key fails with the same message, and only a few at a
   * time: `suppressed` errors since the last call were only counted.
   */
  readonly onFault: (key: string, error: unknown, suppressed: number) => void;
  /**
   * How many keys are worked on at once, in all and for one party. With more than one worker, as many workers again
   * serve parties that have none, so keys that take long hold up only their own party.
   */
  readonly workers: number;
  /** The party of a key; default: its namespace, the text before the first slash. */
  readonly partyOf?: (key: string) => string;
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  readonly timers: Timers;
  readonly observer?: QueueObserver | undefined;
  /** Spreads the time of the thread over parties; default: parties only take turns. */
  readonly pace?: Pick<PartyPace, 'begin' | 'pauseMs'> | undefined;
}

/** Receives events of a work queue, for metrics. */
export interface QueueObserver {
  added(): void;
  /** How many keys wait now. */
  depth(keys: number): void;
  /** Called when work on a key did not finish, and is retried after a pause. */
  retried(): void;
  /**
   * Called when work on a key begins, with the time that the key waited; the returned function is called when the work
   * ends.
   */
  began(waitedMs: number): () => void;
  /** Does the work on a key, and may record its result. */
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
}

/**
 * A queue of keys that need work. A key waits at most once, and only one worker works on it at a time. A key added
 * during its work is worked on again afterwards. Parties (by default namespaces) take turns, so a key waits for one key
 * of each other party, not for all of them.
 */
export class WorkQueue {
  private readonly waiting = new PartyQueue<string>();
  /** When each waiting key was queued. */
  private readonly since = new Map<string, number>();
  private readonly active = new Map<string, Promise<void>>();
  /** How many keys of each party are being worked on. */
  private readonly busy = new Map<string, number>();
  /** How many keys in progress rest (see {@link Rest}), in all and of each party. */
  private resting = 0;
  private readonly restingOf = new Map<string, number>();
  private readonly partyOf: (key: string) => string;
  private readonly mostActive: number;
  /** Keys added during work on them. */
  private readonly again = new Set<string>();
  /** When a postponed key is due. Adding the key cancels the postponement. */
  private readonly postponed = new Map<string, number>();
  /** How often work on a key failed since it was last done. */
  private readonly failures = new Map<string, number>();
  /** The last error message of each key whose work failed. */
  private readonly faults = new Map<string, string>();
  private readonly budget: FaultBudget;
  private signal: AbortSignal | undefined;
  /** The shortest pause among the parties that were passed over, and the timer that ends it. */
  private pauseMs = Number.POSITIVE_INFINITY;
  private pauseTimer: NodeJS.Timeout | undefined;

  constructor(private readonly options: WorkQueueOptions) {
    const { timers, workers, partyOf = namespaceOfKey } = options;
    this.budget = new FaultBudget(timers);
    this.partyOf = partyOf;
    // A single worker means that no two keys may be worked on at once.
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
    if (this.since.has(key) || this.again.has(key)) return;
    const due = this.postponed.get(key);
    const { signal } = this;
    // Before the start every key is due at once.
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
    this.pauseMs = Number.POSITIVE_INFINITY;
    while (this.active.size - this.resting < this.mostActive) {
      const next = this.waiting.take(this.mayBegin);
      if (next === undefined) break;
      this.begin(next.party, next.item, signal);
    }
    if (this.pauseMs !== Number.POSITIVE_INFINITY) this.dispatchAfter(this.pauseMs);
    this.options.observer?.depth(this.waiting.size);
  }

  /** Looks again when the pause of a party is over. It is a matter of this thread, so the timers of tests do not rule it. */
  private dispatchAfter(ms: number): void {
    this.pauseTimer ??= setTimeout(() => {
      this.pauseTimer = undefined;
      this.dispatch();
    }, ms).unref();
  }

  private readonly mayBegin = (party: string): boolean => {
    const { workers } = this.options;
    const busy = this.busy.get(party) ?? 0;
    if (busy >= workers) return false;
    const atWork = busy - (this.restingOf.get(party) ?? 0);
    if (this.active.size - this.resting >= workers && atWork > 0) return false;
    const pauseMs = this.options.pace?.pauseMs(party) ?? 0;
    if (pauseMs > 0) this.pauseMs = Math.min(this.pauseMs, pauseMs);
    return pauseMs === 0;
  };

  private begin(party: string, key: string, signal: AbortSignal): void {
    const { observer, timers } = this.options;
    invariant(!this.active.has(key), 'only one worker works on a key at a time', key);
    const since = this.since.get(key) ?? timers.elapsed();
    this.since.delete(key);
    const ended = observer?.began(timers.elapsed() - since);
    count(this.busy, party, 1);
    const left = () => count(this.busy, party, -1);
    this.active.set(
      key,
      // Work that requests itself again at once must not keep everything else from running.
      this.turnOf(party)
        .then(() => this.process(key, left, this.restOf(party), signal))
        .finally(ended),
    );
  }

  /**
   * Resolves in the next round of the event loop. The time until the work waits for something for the first time counts as
   * its party's: most of what it computes comes before.
   */
  private turnOf(party: string): Promise<void> {
    const { pace } = this.options;
    if (pace === undefined) return setImmediate();
    let end: (() => void) | undefined;
    const turn = new Promise<void>((resolve) => {
      scheduleImmediate(() => {
        end = pace.begin(party);
        resolve();
      });
    });
    // Runs right after what the first callback settled.
    scheduleImmediate(() => end?.());
    return turn;
  }

  /**
   * Makes the function by which the work on one key of the party rests: the key rests as long as any of its concurrent
   * steps does.
   */
  private restOf(party: string): Rest {
    // Keys that may not be worked on concurrently may not rest concurrently either.
    if (this.options.workers === 1) return (wait) => wait();
    let waits = 0;
    const change = (by: 1 | -1) => {
      this.resting += by;
      count(this.restingOf, party, by);
    };
    return async (wait) => {
      waits += 1;
      if (waits === 1) {
        change(1);
        this.dispatch();
      }
      try {
        return await wait();
      } finally {
        waits -= 1;
        if (waits === 0) change(-1);
      }
    };
  }

  private async process(key: string, left: () => void, rest: Rest, signal: AbortSignal): Promise<void> {
    let outcome: WorkOutcome;
    try {
      const { work, observer } = this.options;
      const begin = () => work(key, signal, rest);
      outcome = await (observer === undefined ? begin() : observer.run(key, begin));
      if (outcome === 'done') this.faults.delete(key);
    } catch (error) {
      outcome = 'later';
      if (!signal.aborted) this.report(key, error);
    }
    this.active.delete(key);
    left();
    if (signal.aborted) return;
    if (outcome !== 'later') this.failures.delete(key);
    // A requested time is not a failure.
    if (outcome === 'later') this.options.observer?.retried();
    if (this.again.delete(key)) this.wait(key);
    else if (outcome !== 'done') {
      const pauseMs = outcome === 'later' ? this.nextPause(key) : outcome;
      const due = this.postponed.get(key);
      // The work itself may have requested an earlier time.
      if (due === undefined || due > this.options.timers.elapsed() + pauseMs) this.postpone(key, pauseMs, signal);
    }
    this.dispatch();
  }

  private wait(key: string): void {
    if (this.since.has(key)) return;
    this.since.set(key, this.options.timers.elapsed());
    this.waiting.add(this.partyOf(key), key);
    this.options.observer?.added();
  }

  private report(key: string, error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    if (this.faults.get(key) === message) return;
    const suppressed = this.budget.take();
    if (suppressed === undefined) return;
    this.faults.set(key, message);
    this.options.onFault(key, error, suppressed);
  }

  private nextPause(key: string): number {
    const { firstPauseMs: firstMs, longestPauseMs: longestMs } = this.options;
    const failures = (this.failures.get(key) ?? 0) + 1;
    this.failures.set(key, failures);
    return pauseAfter(failures, { firstMs, longestMs });
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

/** Changes a count, and removes it once it is 0. */
function count(counts: Map<string, number>, party: string, by: number): void {
  const now = (counts.get(party) ?? 0) + by;
  if (now > 0) counts.set(party, now);
  else counts.delete(party);
}
