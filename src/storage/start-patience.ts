import type { Logger } from '../base/observability/logger.js';
import { isNotReadyYet, untilReady } from './until-ready.js';

/** Injection token of the signal that ends a start's wait for the database because the process must stop. */
export const START_SIGNAL = Symbol('StartSignal');

/**
 * Lets a starting process wait for a database that is not ready: it logs the reason, and stops waiting when the process
 * is stopped.
 */
export class StartPatience {
  constructor(
    private readonly signal: AbortSignal,
    private readonly logger: Pick<Logger, 'warn'>,
    /** Decides which errors, besides those of storage, will pass with time. */
    private readonly passes: (error: unknown) => boolean = () => false,
  ) {}

  /**
   * Repeats a step until the database is ready for it. A failed attempt may have done part of the step.
   *
   * @throws an error that waiting can't fix, at once; the last error when the start is aborted.
   */
  until<T>(step: () => Promise<T>): Promise<T> {
    return untilReady(step, {
      signal: this.signal,
      onWait: (error) => this.logger.warn('the start waits for the database', { reason: reasonOf(error) }),
      passes: (error) => isNotReadyYet(error) || this.passes(error),
    });
  }

  /** Runs a step that itself waits until `stop` is aborted; aborting the start aborts `stop`. */
  async abortable(stop: AbortController, step: () => Promise<void>): Promise<void> {
    const giveUp = () => stop.abort();
    if (this.signal.aborted) giveUp();
    this.signal.addEventListener('abort', giveUp);
    try {
      await step();
    } finally {
      this.signal.removeEventListener('abort', giveUp);
    }
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}
