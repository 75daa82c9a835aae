import type { Logger } from '../observability/logger.js';
import { isNotReadyYet, untilReady } from './until-ready.js';

/** Injection token of the signal that ends the patience of a start: nobody wants the process any more. */
export const START_SIGNAL = Symbol('StartSignal');

/** How a starting process deals with a database that is not ready: it waits, says so, and ends when it is told to stop. */
export class StartPatience {
  constructor(
    private readonly signal: AbortSignal,
    private readonly logger: Pick<Logger, 'warn'>,
    /** What passes besides errors of storage. */
    private readonly passes: (error: unknown) => boolean = () => false,
  ) {}

  /**
   * Takes a step again and again until the database is ready for it; the step may have been done in part.
   *
   * @throws what no waiting heals, at once; the last error when the start is given up.
   */
  until<T>(step: () => Promise<T>): Promise<T> {
    return untilReady(step, {
      signal: this.signal,
      onWait: (error) => this.logger.warn('the start waits for the database', { reason: reasonOf(error) }),
      passes: (error) => isNotReadyYet(error) || this.passes(error),
    });
  }

  /** Takes a step that waits by itself until `stop` is aborted, which is done when the start is given up meanwhile. */
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
