import { setTimeout as delay } from 'node:timers/promises';

/** The maximum number of checks: if more are needed, the test hangs. */
const most = 1_000;

/**
 * Calls `isSo` until it resolves with true, with a pause between the calls, and resolves with the number of calls.
 *
 * On a busy machine the count is a better measure of duration than the time, since the load slows the calls down as
 * well. On an idle machine `n` calls take at least `n - 1` pauses.
 */
export async function questionsUntil(isSo: () => Promise<boolean>, what: string, pauseMs: number): Promise<number> {
  for (let asked = 1; asked <= most; asked++) {
    if (await isSo()) return asked;
    await delay(pauseMs);
  }
  throw new Error(`not after ${most} questions: ${what}`);
}
