import { setTimeout as delay } from 'node:timers/promises';
import type { ApiObject } from '../machinery/api-object.js';
import type { ChangeSubscription, Storage, StorageKey } from '../storage/storage.interface.js';

const retryMs = 500;
const pageSize = 500;

/**
 * All objects of one resource in memory, reduced to what its user needs and kept up to date from the change log. It
 * trails the store by the time a change needs to arrive; who must not miss a fresh write reads the store when the index
 * has no answer.
 */
export class LiveIndex<V> {
  private values = new Map<string, V>();
  private subscription: ChangeSubscription | undefined;
  private loop: Promise<void> | undefined;
  private isStopped = false;

  constructor(
    private readonly storage: Storage,
    private readonly resource: string,
    private readonly project: (object: ApiObject) => V,
    private readonly onFault: (error: unknown) => void,
  ) {}

  /** Resolves when the index has been filled once; it goes on by itself until `signal` is aborted. */
  async start(signal: AbortSignal): Promise<void> {
    const stop = () => {
      this.isStopped = true;
      this.subscription?.close();
    };
    signal.addEventListener('abort', stop, { once: true });
    await this.fill();
    this.loop = this.run(signal);
  }

  /** Resolves when the loop has ended after the abort. */
  async stopped(): Promise<void> {
    await this.loop;
  }

  get(namespace: string, name: string): V | undefined {
    return this.values.get(keyText(namespace, name));
  }

  /** Every value, in no order. */
  all(): IterableIterator<V> {
    return this.values.values();
  }

  private async fill(): Promise<void> {
    const values = new Map<string, V>();
    let page = await this.storage.list({ resource: this.resource, limit: pageSize });
    const at = page.resourceVersion;
    for (;;) {
      for (const item of page.items) values.set(keyOf(item.key), this.project(JSON.parse(item.json) as ApiObject));
      const last = page.items.at(-1);
      if (!page.more || last === undefined) break;
      const after = { namespace: last.key.namespace, name: last.key.name };
      page = await this.storage.list({ resource: this.resource, limit: pageSize, at, after });
    }
    const subscription = await this.storage.watch({ resource: this.resource }, at);
    if (this.isStopped) subscription.close();
    this.subscription = subscription;
    this.values = values;
  }

  private async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        if (this.subscription === undefined) await this.fill();
        await this.follow(this.subscription as ChangeSubscription);
      } catch (error) {
        if (signal.aborted) return;
        this.onFault(error);
        this.subscription?.close();
        await delay(retryMs, undefined, { signal }).catch(() => undefined);
      }
      // A stream that ended may have missed changes: start from a fresh list.
      this.subscription = undefined;
    }
  }

  private async follow(subscription: ChangeSubscription): Promise<void> {
    for (;;) {
      const batch = await subscription.next();
      if (batch === undefined) return;
      for (const change of batch.changes) {
        if (change.type === 'delete') this.values.delete(keyOf(change.key));
        else this.values.set(keyOf(change.key), this.project(JSON.parse(change.json) as ApiObject));
      }
    }
  }
}

function keyOf(key: StorageKey): string {
  return keyText(key.namespace, key.name);
}

function keyText(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}
