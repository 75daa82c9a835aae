import type {
  AgedPage,
  AgedQuery,
  ChangeSubscription,
  ListPage,
  ListQuery,
  LostVersions,
  Storage,
  StorageCreateOptions,
  StorageUsage,
  StoredObject,
  TiedWriteAnswer,
  UpdateDecision,
  UpdateOptions,
  UpdateResult,
  WatchScope,
  Write,
} from '../../storage/storage.interface.js';
import type { StorageKey } from '../../storage/storage-key.js';
import { TermOver } from './frame/term-over.js';

/**
 * The storage of the control loops, which refuses writes from a process that may no longer act: if the event loop was
 * held for longer than the lease, another process may lead by now. Throws TermOver then.
 */
export class FencedStorage implements Storage {
  readonly usage: ((key: StorageKey) => StorageUsage) | undefined;
  readonly forget: ((resource: string) => void) | undefined;

  constructor(
    private readonly storage: Storage,
    private readonly mayWrite: () => boolean,
  ) {
    this.usage = storage.usage?.bind(storage);
    this.forget = storage.forget?.bind(storage);
  }

  async create(key: StorageKey, uid: string, json: string, options?: StorageCreateOptions): Promise<StoredObject> {
    this.check();
    return this.storage.create(key, uid, json, options);
  }

  async guaranteedUpdate(
    key: StorageKey,
    options: UpdateOptions,
    tryUpdate: (current: StoredObject | undefined) => Promise<UpdateDecision> | UpdateDecision,
  ): Promise<UpdateResult> {
    return this.storage.guaranteedUpdate(key, options, async (current) => {
      const decision = await tryUpdate(current);
      // Checked after the decision, because a decided write is made at once.
      this.check();
      return decision;
    });
  }

  async writeTogether(writes: readonly Write[]): Promise<readonly TiedWriteAnswer[]> {
    this.check();
    return this.storage.writeTogether(writes);
  }

  get(key: StorageKey, notOlderThan?: bigint): Promise<StoredObject | undefined> {
    return this.storage.get(key, notOlderThan);
  }

  list(query: ListQuery): Promise<ListPage> {
    return this.storage.list(query);
  }

  head(): Promise<bigint> {
    return this.storage.head();
  }

  compactRevision(): Promise<bigint> {
    return this.storage.compactRevision();
  }

  watch(scope: WatchScope, from: bigint): Promise<ChangeSubscription> {
    return this.storage.watch(scope, from);
  }

  aged(query: AgedQuery): Promise<AgedPage> {
    return this.storage.aged(query);
  }

  lostVersions(): LostVersions | undefined {
    return this.storage.lostVersions();
  }

  ping(): Promise<void> {
    return this.storage.ping();
  }

  private check(): void {
    if (!this.mayWrite()) throw new TermOver();
  }
}
