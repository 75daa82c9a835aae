import { selects } from '../../storage/selection-predicate.js';
import type {
  AgedPage,
  AgedQuery,
  ChangeBatch,
  ChangeSubscription,
  ListPage,
  ListQuery,
  ListScope,
  LostVersions,
  Storage,
  StorageCreateOptions,
  StoredObject,
  TiedWriteAnswer,
  UpdateDecision,
  UpdateOptions,
  UpdateResult,
  WatchScope,
  Write,
} from '../../storage/storage.interface.js';
import type { StorageKey } from '../../storage/storage-key.js';
import { ThrownInThread } from './thrown-in-thread.js';

/** Calls a method in the other thread. */
export type RemoteCall = (method: string, ...args: readonly unknown[]) => Promise<unknown>;

/** Registers an update's decision function under a number, by which the other thread calls it. */
export type RegisterDecision = (decide: (current: StoredObject | undefined) => Promise<UpdateDecision | undefined>) => {
  readonly id: number;
  readonly release: () => void;
};

/**
 * The storage of the process, used from another thread: JSON is copied, while functions stay in this thread. Once the
 * client of a request has left, its decision functions are no longer called.
 */
export class RemoteStorage implements Storage {
  constructor(
    private readonly call: RemoteCall,
    private readonly register: RegisterDecision,
    private readonly leftOf: () => AbortSignal | undefined = () => undefined,
    /** Calls a method of a subscription in the other thread by its number. */
    private readonly callChanges: RemoteCall = () => Promise.reject(new Error('no changes are followed here')),
  ) {}

  create(key: StorageKey, uid: string, json: string, options?: StorageCreateOptions): Promise<StoredObject> {
    return this.call('create', key, uid, json, options) as Promise<StoredObject>;
  }

  get(key: StorageKey, notOlderThan?: bigint): Promise<StoredObject | undefined> {
    return this.call('get', key, notOlderThan) as Promise<StoredObject | undefined>;
  }

  /** Filters in this thread, since predicates on objects can't be sent. */
  async list(query: ListQuery): Promise<ListPage> {
    const { select, limit, ...rest } = query;
    if (select === undefined) return (await this.call('list', query)) as ListPage;
    const items: StoredObject[] = [];
    let { at, after } = rest;
    for (;;) {
      const page = (await this.call('list', { ...rest, at, after, limit: rest.pageSize ?? limit })) as ListPage;
      at = page.resourceVersion;
      for (const [i, item] of page.items.entries()) {
        if (!selects(select, select.source.extract(item.json), item.key)) continue;
        items.push(item);
        const more = page.more || i < page.items.length - 1;
        if (items.length === limit) return { resourceVersion: at, items, more };
      }
      const last = page.items.at(-1);
      if (!page.more || last === undefined) return { resourceVersion: at, items, more: false };
      after = { namespace: last.key.namespace, name: last.key.name };
    }
  }

  async guaranteedUpdate(
    key: StorageKey,
    options: UpdateOptions,
    tryUpdate: (current: StoredObject | undefined) => Promise<UpdateDecision> | UpdateDecision,
  ): Promise<UpdateResult> {
    let thrown: unknown;
    const left = this.leftOf();
    const { id, release } = this.register(async (current) => {
      try {
        left?.throwIfAborted();
        return await tryUpdate(current);
      } catch (error) {
        thrown = error;
        return undefined;
      }
    });
    try {
      return (await this.call('guaranteedUpdate', key, options, id)) as UpdateResult;
    } catch (error) {
      throw error instanceof ThrownInThread ? thrown : error;
    } finally {
      release();
    }
  }

  writeTogether(writes: readonly Write[]): Promise<readonly TiedWriteAnswer[]> {
    return this.call('writeTogether', writes) as Promise<readonly TiedWriteAnswer[]>;
  }

  head(): Promise<bigint> {
    return this.call('head') as Promise<bigint>;
  }

  compactRevision(): Promise<bigint> {
    return this.call('compactRevision') as Promise<bigint>;
  }

  aged(query: AgedQuery): Promise<AgedPage> {
    return this.call('aged', query) as Promise<AgedPage>;
  }

  ping(): Promise<void> {
    return this.call('ping') as Promise<void>;
  }

  /** For the informers of the thread: changes do not contain the previous state. */
  async watch({ resource, namespace, name }: WatchScope, from: bigint): Promise<ChangeSubscription> {
    // Omits the selection, whose functions can't be sent to the other thread.
    const scope: ListScope = { resource, namespace, name };
    return new RemoteSubscription((await this.call('watch', scope, from)) as number, this.callChanges);
  }

  /** The serving thread handles lost versions. */
  lostVersions(): LostVersions | undefined {
    return undefined;
  }
}

/** A stream of changes in the other thread. */
class RemoteSubscription implements ChangeSubscription {
  private isClosed = false;
  private readonly onFailures: (() => void)[] = [];

  constructor(
    private readonly id: number,
    private readonly call: RemoteCall,
  ) {}

  async next(): Promise<ChangeBatch | undefined> {
    if (this.isClosed) return undefined;
    try {
      return (await this.call('next', this.id)) as ChangeBatch | undefined;
    } catch (error) {
      for (const listener of this.onFailures.splice(0)) listener();
      throw error;
    }
  }

  /**
   * The listener is called only when the failed stream is read, which is enough: informers always wait for the next
   * batch.
   */
  onFailure(listener: () => void): void {
    this.onFailures.push(listener);
  }

  close(): void {
    this.isClosed = true;
    // A failure can be ignored: the other thread closes the subscription when this thread ends.
    this.call('close', this.id).catch(() => undefined);
  }
}
