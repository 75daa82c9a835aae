import { setTimeout as delay } from 'node:timers/promises';
import { errorText, StartupError } from '../../../base/machinery/startup-error.js';

/** The path at which the store reports a server's database. */
export const databasePath = '/plinth/database';

/** The prefix of servers that set none. */
export const usualPrefix = '/registry';

/** The store's response at that path. */
export type StoreAnswer = { readonly databaseUrl: string } | { readonly problem: string };

const patienceMs = 15_000;
const pollMs = 100;
const requestMs = 10_000;

/**
 * Asks the stores for the database of a prefix until one of them answers.
 *
 * @throws StartupError when none answers within 15 seconds, or when another program answers
 */
export async function databaseOf(urls: readonly string[], prefix: string, signal: AbortSignal): Promise<string> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    let reason = 'no store is named';
    for (const url of urls) {
      try {
        return await ask(url, prefix);
      } catch (error) {
        if (error instanceof StartupError) throw error;
        reason = error instanceof Error && error.cause !== undefined ? errorText(error.cause) : errorText(error);
      }
    }
    signal.throwIfAborted();
    if (performance.now() > deadline) throw new StartupError(`no store answers on ${urls.join(', ')}: ${reason}`);
    await delay(pollMs);
  }
}

async function ask(url: string, prefix: string): Promise<string> {
  const asked = new URL(databasePath, url);
  asked.searchParams.set('prefix', prefix);
  const response = await fetch(asked, { signal: AbortSignal.timeout(requestMs) });
  const text = await response.text();
  const answer = understand(text);
  if (answer === undefined) {
    throw new StartupError(
      `${url} is not the etcd that plinth assets has written: Plinth stores in PostgreSQL and needs that program, from the same folder`,
    );
  }
  if ('problem' in answer) throw new StartupError(`${url}: ${answer.problem}`);
  return answer.databaseUrl;
}

function understand(text: string): StoreAnswer | undefined {
  try {
    const value = JSON.parse(text) as Partial<Record<'databaseUrl' | 'problem', unknown>> | null;
    if (typeof value?.databaseUrl === 'string') return { databaseUrl: value.databaseUrl };
    if (typeof value?.problem === 'string') return { problem: value.problem };
  } catch {
    // The response is not from one of our stores.
  }
  return undefined;
}
