import { setImmediate } from 'node:timers/promises';
import type { Steps } from './turns.js';

/** How long one turn is, in milliseconds (approximately: a step is not interrupted). */
const turnMs = 5;

/** The outcome of queued work. */
export interface QueuedResult<T> {
  /**
   * The result, as soon as it is available. Requesting it earlier moves the work ahead of all work whose result nobody
   * has requested. Throws or rejects with the error of the work.
   */
  get(): T | Promise<T>;
}

/**
 * Runs queued work in turns with everything else that a thread does: however much is queued, it gets one turn in each
 * round of the event loop. Work begins in the order in which it was added, except that awaited work goes first.
 */
export class StepQueue {
  private readonly waiting = new Set<Task>();
  private readonly urgent = new Set<Task>();
  private isRunning = false;

  /** @param elapsed a clock in milliseconds */
  constructor(private readonly elapsed: () => number = () => performance.now()) {}

  /** Queues work. None of it is done before the next round of the event loop. */
  add<T>(steps: Steps<T>): QueuedResult<T> {
    const result = new Result(steps, () => this.hurry(task));
    const task: Task = () => result.advance();
    this.waiting.add(task);
    if (!this.isRunning) {
      this.isRunning = true;
      void this.run();
    }
    return result;
  }

  private hurry(task: Task): void {
    if (this.waiting.delete(task)) this.urgent.add(task);
  }

  private async run(): Promise<void> {
    for (;;) {
      await setImmediate();
      const began = this.elapsed();
      do {
        const from = this.urgent.size > 0 ? this.urgent : this.waiting;
        const [task] = from;
        if (task === undefined) {
          this.isRunning = false;
          return;
        }
        if (task()) from.delete(task);
      } while (this.elapsed() - began < turnMs);
    }
  }
}

/** Does one step and returns whether it was the last. Never throws. */
type Task = () => boolean;

class Result<T> implements QueuedResult<T> {
  private outcome: { readonly value: T } | { readonly error: unknown } | undefined;
  private promise: Promise<T> | undefined;
  private settle: () => void = () => {};

  constructor(
    private readonly steps: Steps<T>,
    private readonly hurry: () => void,
  ) {}

  get(): T | Promise<T> {
    if (this.outcome !== undefined) return this.taken(this.outcome);
    this.hurry();
    this.promise ??= new Promise<void>((resolve) => {
      this.settle = resolve;
    }).then(() => this.taken(this.outcome as NonNullable<typeof this.outcome>));
    return this.promise;
  }

  advance(): boolean {
    try {
      const { done, value } = this.steps.next();
      if (done !== true) return false;
      this.outcome = { value };
    } catch (error) {
      this.outcome = { error };
    }
    this.settle();
    return true;
  }

  private taken(outcome: NonNullable<typeof this.outcome>): T {
    if ('error' in outcome) throw outcome.error;
    return outcome.value;
  }
}
