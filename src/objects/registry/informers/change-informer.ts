import { setTimeout as delay } from 'node:timers/promises';
import { Turn } from '../../../base/machinery/turns.js';
import type { Change, ChangeSubscription, Storage } from '../../../storage/storage.interface.js';
import type { StorageKey } from '../../../storage/storage-key.js';
import { untilReady } from '../../../storage/until-ready.js';

const retryMs = 500;

/** Receives the changes from a change informer. */
export interface ChangeHandler {
  /** An object was written or removed. Called in the order of the log, soon after the commit. */
  changed(key: StorageKey, change: Change): void;
  /** Changes may have been missed: nothing learned before this call still holds. */
  missed(): void;
}

/**
 * Reports to a handler which objects of a resource change, without reading them. It keeps no objects: it costs one call
 * per change and nothing at the start. Read the store for the present state of an object.
 */
export class ChangeInformer {
  private subscription: ChangeSubscription | undefined;
  private loop: Promise<void> | undefined;

  constructor(
    private readonly storage: Pick<Storage, 'head' | 'watch'>,
    private readonly resource: string,
    private readonly handler: ChangeHandler,
    private readonly onFault: (error: unknown) => void,
  ) {}

  /** Resolves when every later change will be reported. Continues until `signal` is aborted. */
  async start(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.subscription?.close(), { once: true });
    this.subscription = await untilReady(() => this.subscribe(signal), { signal, onWait: this.onFault });
    this.loop = this.run(signal);
  }

  /** Resolves when the informer has stopped after the abort. */
  async stopped(): Promise<void> {
    await this.loop;
  }

  private async subscribe(signal: AbortSignal): Promise<ChangeSubscription> {
    const subscription = await this.storage.watch({ resource: this.resource }, await this.storage.head());
    if (signal.aborted) subscription.close();
    return subscription;
  }

  private async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        if (this.subscription === undefined) {
          this.subscription = await this.subscribe(signal);
          this.handler.missed();
        }
        await this.follow(this.subscription);
      } catch (error) {
        if (signal.aborted) return;
        this.onFault(error);
        this.handler.missed();
        this.subscription?.close();
        await delay(retryMs, undefined, { signal }).catch(() => undefined);
      }
      this.subscription = undefined;
    }
  }

  private async follow(subscription: ChangeSubscription): Promise<void> {
    for (;;) {
      const batch = await subscription.next();
      if (batch === undefined) return;
      const turn = new Turn();
      for (const change of batch.changes) {
        this.handler.changed(change.key, change);
        if (turn.isOver) await turn.next();
      }
    }
  }
}
