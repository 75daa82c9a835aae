import { setTimeout as delay } from 'node:timers/promises';

/** Far more questions than anybody waits for: something hangs. */
const most = 1_000;

/**
 * Asks until it is so, with a pause before each further question, and resolves with how often it asked.
 *
 * The count tells how long something took in a way that holds on a busy machine: what slows it down slows down the questions
 * as well. On a quiet one `n` questions take at least `n - 1` pauses.
 */
export async function questionsUntil(isSo: () => Promise<boolean>, what: string, pauseMs: number): Promise<number> {
  for (let asked = 1; asked <= most; asked++) {
    if (await isSo()) return asked;
    await delay(pauseMs);
  }
  throw new Error(`not after ${most} questions: ${what}`);
}
