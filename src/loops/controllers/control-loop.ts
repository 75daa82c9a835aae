import { Backoff, type PauseRange } from '../../base/machinery/backoff.js';
import type { Timers } from '../../base/machinery/timers.js';
import type { Logger } from '../../base/observability/logger.js';

/** Work that runs while this process leads. */
export interface ControlLoop {
  readonly name: string;
  /**
   * Works until `signal` is aborted, then returns as soon as the current work has ended. A write must do no harm if
   * another process already leads, so writes are conditional on the state that was read.
   */
  run(signal: AbortSignal): Promise<void>;
}

const pauses: PauseRange = { firstMs: 500, longestMs: 30_000 };

/** Runs a loop until the abort. A loop that fails is started again, after a pause that doubles with every failure. */
export async function keepRunning(
  loop: ControlLoop,
  timers: Timers,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  const backoff = new Backoff(pauses);
  while (!signal.aborted) {
    const startedAt = timers.elapsed();
    try {
      await loop.run(signal);
      if (signal.aborted) return;
      logger.error('a control loop ended by itself', { loop: loop.name });
    } catch (error) {
      if (signal.aborted) return;
      logger.error('a control loop failed', { loop: loop.name, error });
    }
    if (timers.elapsed() - startedAt > pauses.longestMs) backoff.reset();
    await timers.wait(backoff.next(), signal);
  }
}
