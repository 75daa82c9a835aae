import type {
  Change,
  ChangeBatch,
  ChangeSubscription,
  ListPage,
  ListQuery,
  Storage,
  StoredObject,
} from '../../../src/storage/storage.interface.js';
import type { StorageKey } from '../../../src/storage/storage-key.js';
import type { FaultName } from './fault-names.js';

/** Decides whether a fault strikes: one call in `every`. */
export type Strikes = (fault: FaultName, every: number) => boolean;

/** Answers from the storage behind it, wrongly when its fault strikes. */
export class FaultyReads {
  private readonly known = new Map<string, StoredObject | undefined>();

  constructor(
    private readonly storage: Pick<Storage, 'create' | 'get' | 'list' | 'head'>,
    private readonly strikes: Strikes,
  ) {}

  async list(query: ListQuery): Promise<ListPage> {
    if (query.at === undefined && this.strikes('stale-list', 10)) {
      const { resourceVersion } = await this.storage.list(query);
      return this.storage.list({ ...query, at: resourceVersion - 1n });
    }
    if (query.at !== undefined && query.after !== undefined && this.strikes('torn-pages', 1)) {
      const page = await this.storage.list({ ...query, at: undefined });
      return { ...page, resourceVersion: query.at };
    }
    return this.storage.list(query);
  }

  async get(key: StorageKey, notOlderThan?: bigint): Promise<StoredObject | undefined> {
    const id = `${key.resource}/${key.namespace}/${key.name}`;
    if (this.strikes('stale-read', 10) && this.known.has(id)) return this.known.get(id);
    const object = await this.storage.get(key, notOlderThan);
    this.known.set(id, object);
    return object;
  }

  async create(key: StorageKey, uid: string, json: string): Promise<StoredObject> {
    if (!this.strikes('lost-write', 20)) return this.storage.create(key, uid, json);
    return { key, uid, json, resourceVersion: await this.storage.head() };
  }
}

/** The subscription with events lost, doubled or out of order when their fault strikes. */
export function faultyWatch(inner: ChangeSubscription, strikes: Strikes): ChangeSubscription {
  let isFirst = true;
  const mangled = (changes: readonly Change[]): readonly Change[] => {
    const [first, second] = changes;
    if (first === undefined) return changes;
    const wasFirst = isFirst;
    isFirst = false;
    if (wasFirst && strikes('lost-resume', 2)) return changes.slice(1);
    if (strikes('lost-event', 20)) return changes.slice(1);
    if (strikes('double-event', 20)) return [first, ...changes];
    // Only with two or more: a batch is often a single change.
    if (second !== undefined && strikes('reorder-events', 2)) return [second, first, ...changes.slice(2)];
    return changes;
  };
  return {
    next: async (): Promise<ChangeBatch | undefined> => {
      const batch = await inner.next();
      if (batch === undefined) return undefined;
      const ahead = strikes('early-bookmark', 1) ? 1n : 0n;
      return { changes: mangled(batch.changes), position: batch.position + ahead };
    },
    onFailure: (listener) => inner.onFailure(listener),
    close: () => inner.close(),
  };
}
