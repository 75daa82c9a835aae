import { armedFault, strikes } from './faults.js';
import type {
  Change,
  ChangeBatch,
  ChangeSubscription,
  ListPage,
  ListQuery,
  Storage,
  StorageKey,
  StoredObject,
} from './storage.interface.js';

/** The storage itself; with a fault armed (see `faults.ts`), one that answers wrongly now and then. */
export function withArmedFault(storage: Storage): Storage {
  if (armedFault === undefined) return storage;
  const faulty = new FaultyReads(storage);
  const replaced: Partial<Storage> = {
    list: (query) => faulty.list(query),
    get: (key, notOlderThan) => faulty.get(key, notOlderThan),
    create: (key, uid, json) => faulty.create(key, uid, json),
    watch: async (scope, from) => new FaultySubscription(await storage.watch(scope, from)),
  };
  return new Proxy(storage, {
    get(target, property) {
      const own: unknown = Reflect.get(replaced, property);
      if (own !== undefined) return own;
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

class FaultyReads {
  private readonly known = new Map<string, StoredObject | undefined>();

  constructor(private readonly storage: Storage) {}

  async list(query: ListQuery): Promise<ListPage> {
    if (query.at === undefined && strikes('stale-list', 10)) {
      const { resourceVersion } = await this.storage.list(query);
      return this.storage.list({ ...query, at: resourceVersion - 1n });
    }
    if (query.at !== undefined && query.after !== undefined && strikes('torn-pages', 1)) {
      const page = await this.storage.list({ ...query, at: undefined });
      return { ...page, resourceVersion: query.at };
    }
    return this.storage.list(query);
  }

  async get(key: StorageKey, notOlderThan?: bigint): Promise<StoredObject | undefined> {
    const id = `${key.resource}/${key.namespace}/${key.name}`;
    if (strikes('stale-read', 10) && this.known.has(id)) return this.known.get(id);
    const object = await this.storage.get(key, notOlderThan);
    this.known.set(id, object);
    return object;
  }

  async create(key: StorageKey, uid: string, json: string): Promise<StoredObject> {
    if (!strikes('lost-write', 20)) return this.storage.create(key, uid, json);
    return { key, uid, json, resourceVersion: await this.storage.head() };
  }
}

class FaultySubscription implements ChangeSubscription {
  private isFirst = true;

  constructor(private readonly inner: ChangeSubscription) {}

  async next(): Promise<ChangeBatch | undefined> {
    const batch = await this.inner.next();
    if (batch === undefined) return undefined;
    const ahead = strikes('early-bookmark', 1) ? 1n : 0n;
    return { changes: this.mangled(batch.changes), position: batch.position + ahead };
  }

  onFailure(listener: () => void): void {
    this.inner.onFailure(listener);
  }

  close(): void {
    this.inner.close();
  }

  private mangled(changes: readonly Change[]): readonly Change[] {
    const [first, second] = changes;
    if (first === undefined) return changes;
    const wasFirst = this.isFirst;
    this.isFirst = false;
    if (wasFirst && strikes('lost-resume', 2)) return changes.slice(1);
    if (strikes('lost-event', 20)) return changes.slice(1);
    if (strikes('double-event', 20)) return [first, ...changes];
    // Only where there are two: a batch is often a single change.
    if (second !== undefined && strikes('reorder-events', 2)) return [second, first, ...changes.slice(2)];
    return changes;
  }
}
