/** Something that runs until it is stopped. */
export interface Running {
  stop(): Promise<void>;
}

/** Longest time for stopping everything besides requests. */
const stopLimitMs = 90_000;

/**
 * Longest time from a signal to the exit of a process, in milliseconds. For a serving process, it includes the shutdown
 * delay and the time limit of requests.
 */
export function stopLimit(api?: { readonly shutdownDelayMs: number; readonly requestTimeoutMs: number }): number {
  return (api === undefined ? 0 : api.shutdownDelayMs + api.requestTimeoutMs) + stopLimitMs;
}

/** Stops in the reverse order of starting. All are stopped even when one fails; then the first failure is thrown. */
export async function stopAll(started: readonly Running[]): Promise<void> {
  const failures: unknown[] = [];
  for (const running of started.toReversed()) {
    try {
      await running.stop();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
