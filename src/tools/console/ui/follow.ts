import { Backoff } from '../../../base/machinery/backoff.js';
import { type Api, statusFault } from './api.js';
import { ApiFault } from './api-fault.js';
import { readObject } from './yaml-text.js';

/** `failed`: another request would change nothing, for example because the user may not read. */
export type FollowState = 'loading' | 'live' | 'waiting' | 'failed';

/** What is followed: a list, and the changes from its version on. */
export interface Followed {
  /** Reads everything and resolves with the version of the list. */
  list(signal: AbortSignal): Promise<string>;
  /** The path that watches from a version. */
  watchPath(version: string): string;
  readonly accept: string;
  /** Takes an event; returns the version that the watch has reached. */
  event(type: string, object: unknown): string | undefined;
  state(state: FollowState, message: string): void;
  /** The user may no longer read it: what is known of it must not stay in sight. */
  forget(): void;
}

/** Waits the given number of milliseconds, or until the signal. */
export type Wait = (ms: number, signal: AbortSignal) => Promise<void>;

const firstPauseMs = 500;
const longestPauseMs = 30_000;
/**
 * How long a watch lasts, in seconds. Servers decide at its beginning whether the user may watch, so that rights that are
 * taken away count for the page by its end.
 */
export const watchSeconds = '60';
/** A watch that lasted this long counts as successful. */
const goodWatchMs = 10_000;

/**
 * Lists, then watches from the list's version, until the signal. A watch that ends is resumed where it ended; when the
 * server no longer has that version (410), everything is listed again. Errors are tried again after growing pauses.
 */
export async function follow(api: Api, followed: Followed, signal: AbortSignal, wait: Wait): Promise<void> {
  let version: string | undefined;
  const backoff = new Backoff({ firstMs: firstPauseMs, longestMs: longestPauseMs });
  followed.state('loading', '');
  while (!signal.aborted) {
    const began = performance.now();
    try {
      version ??= await followed.list(signal);
      followed.state('live', '');
      for await (const reached of watched(api, followed, version, signal)) version = reached;
      if (performance.now() - began >= goodWatchMs) backoff.reset();
    } catch (error) {
      if (signal.aborted) return;
      const fault = error instanceof ApiFault ? error : new ApiFault(0, String((error as Error).message));
      if (fault.code === 410) {
        version = undefined;
        // The first retry is immediate; a server that always answers like this must not be called in a loop.
        if (backoff.failures === 0) {
          backoff.next();
          continue;
        }
      }
      if (fault.code === 403) followed.forget();
      if (isFinal(fault.code)) {
        followed.state('failed', fault.message);
        return;
      }
      followed.state('waiting', fault.message);
    }
    await wait(backoff.next(), signal);
  }
}

function isFinal(code: number): boolean {
  return code >= 400 && code < 500 && code !== 408 && code !== 410 && code !== 429;
}

async function* watched(api: Api, followed: Followed, from: string, signal: AbortSignal): AsyncGenerator<string> {
  for await (const line of api.lines(followed.watchPath(from), { accept: followed.accept, signal })) {
    const { type, object } = readObject(line) as unknown as { readonly type: string; readonly object: unknown };
    if (type === 'ERROR') throw statusFault((object as { code?: number }).code ?? 500, object as object);
    const reached = followed.event(type, object);
    if (reached !== undefined) yield reached;
  }
}

/** The {@link Wait} of the browser. */
export const waitInBrowser: Wait = (ms, signal) =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
