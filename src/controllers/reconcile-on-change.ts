import type { Change, Scope, Storage } from '../storage/storage.interface.js';
import type { Timers } from './timers.js';

export interface ReconcileOptions {
  readonly storage: Storage;
  readonly timers: Timers;
  /** What is looked at. */
  readonly scopes: readonly Scope[];
  /** Whether a change in one of the scopes matters. */
  readonly concerns: (change: Change) => boolean;
  /** Brings things in order from what it reads then; answers in how many milliseconds it is needed again at the latest. */
  readonly reconcile: () => Promise<number>;
}

/** Even without a change everything is looked at this often. */
const longestWaitMs = 600_000;

/**
 * Brings things in order at the start, after every change that concerns them and when it is time, until the abort. Changes
 * that come while it works make it work once more.
 *
 * @throws whatever reading the changes or `reconcile` throws.
 */
export async function reconcileOnChange(options: ReconcileOptions, signal: AbortSignal): Promise<void> {
  const { storage, timers } = options;
  const ended = new AbortController();
  const stop = AbortSignal.any([signal, ended.signal]);
  const bell = new Bell();
  stop.addEventListener('abort', () => bell.ring(), { once: true });
  const from = await storage.head();
  const subscriptions: Promise<void>[] = [];
  try {
    for (const scope of options.scopes) {
      const subscription = await storage.watch(scope, from);
      stop.addEventListener('abort', () => subscription.close(), { once: true });
      const follow = async () => {
        for (let batch = await subscription.next(); batch !== undefined; batch = await subscription.next()) {
          if (batch.changes.some(options.concerns)) bell.ring();
        }
      };
      subscriptions.push(follow().catch((error: unknown) => bell.fail(error)));
    }
    while (!stop.aborted) {
      bell.reset();
      const waitMs = Math.min(await options.reconcile(), longestWaitMs);
      const woken = new AbortController();
      const wait = timers.wait(Math.max(waitMs, 0), AbortSignal.any([stop, woken.signal]));
      try {
        await Promise.race([bell.rung(), wait]);
      } finally {
        woken.abort();
      }
    }
  } finally {
    ended.abort();
    await Promise.all(subscriptions);
  }
}

/** Rings once for any number of rings since it was reset; a failure is thrown to whoever waits. */
class Bell {
  private isRung = false;
  private failure: { readonly error: unknown } | undefined;
  private wake: () => void = () => undefined;

  reset(): void {
    this.isRung = false;
  }

  ring(): void {
    this.isRung = true;
    this.wake();
  }

  fail(error: unknown): void {
    this.failure ??= { error };
    this.wake();
  }

  async rung(): Promise<void> {
    if (!this.isRung && this.failure === undefined) await new Promise<void>((resolve) => (this.wake = resolve));
    if (this.failure !== undefined) throw this.failure.error;
  }
}
