import type { Change, Scope, Storage } from '../storage/storage.interface.js';
import type { Timers } from './timers.js';

export interface ReconcileOptions {
  readonly storage: Storage;
  readonly timers: Timers;
  /** The scopes to follow. */
  readonly scopes: readonly Scope[];
  /** Whether a change in one of the scopes matters. */
  readonly concerns: (change: Change) => boolean;
  /** Corrects the state, from fresh reads. Returns after how many milliseconds it must run again at the latest. */
  readonly reconcile: () => Promise<number>;
}

/** The longest time between two runs, even without a change. */
const longestWaitMs = 600_000;

/**
 * Reconciles at the start, after every relevant change and when the time has come, until the abort. A change during a
 * run causes another run.
 *
 * @throws any error from reading the changes or from `reconcile`.
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

/** Combines any number of rings since the last reset into one. A failure is thrown to the waiting caller. */
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
