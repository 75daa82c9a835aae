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

const firstPauseMs = 500;
const longestPauseMs = 30_000;

/** Runs a loop until the abort. A loop that fails is started again, after a pause that doubles with every failure. */
export async function keepRunning(
  loop: ControlLoop,
  timers: Timers,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  let pauseMs = firstPauseMs;
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
    if (timers.elapsed() - startedAt > longestPauseMs) pauseMs = firstPauseMs;
    await timers.wait(pauseMs, signal);
    pauseMs = Math.min(pauseMs * 2, longestPauseMs);
  }
}
