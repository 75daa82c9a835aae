import { inTurns } from '../../base/machinery/turns.js';
import { WatchBacklog } from '../feed/watch-backlog.js';
import type {
  AgedPage,
  AgedQuery,
  Change,
  ChangeSubscription,
  ListPage,
  ListQuery,
  LostVersions,
  SharedObject,
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
} from '../storage.interface.js';
import { StorageError } from '../storage-error.js';
import type { StorageKey } from '../storage-key.js';
import { type CacheOptions, defaultCacheOptions } from './cache-options.js';
import { Cacher, type SharedAmongCaches } from './cacher.js';
import { FormBlocks } from './form-blocks.js';
import type { MemoryBudget } from './memory-budget.js';
import { RecentObjects } from './recent-objects.js';
import { UpdateLanes } from './update-lanes.js';
import type { WatchCache } from './watch-cache.js';

/** Cached forms of objects may use at most one part in this many of the memory for all caches. */
const FORMS_PART = 8;

/** How often to check for idle caches and for caches that are too large, in milliseconds. */
const SWEEP_MS = 5_000;

const unknownUsage: StorageUsage = Object.freeze({ objects: undefined, isInMemory: false, watchers: 0 });

/** The size of one cache. */
export interface CacheStatistics {
  readonly resource: string;
  readonly objects: number;
  /** Estimated memory in bytes. */
  readonly bytes: number;
  readonly watchers: number;
}

/**
 * A store that serves lists and watches from memory where the result is the same as from the store behind it.
 * Everything else comes from that store. Writes and reads of single objects pass through.
 *
 * A list without a version first reads the newest version from the database, and waits until the cache has reached it.
 * So the list includes every write that was committed before the call, by any process.
 */
export class CachedStorage implements Storage, SharedAmongCaches {
  readonly backlog: WatchBacklog;
  private readonly inner: Storage;
  private readonly options: CacheOptions;
  private readonly cachers = new Map<string, Cacher>();
  private readonly recent: RecentObjects;
  private readonly budget: MemoryBudget;
  private readonly forms: FormBlocks;
  private readonly lanes: UpdateLanes;
  private formsUsedAt = 0;
  private cancelSweep: (() => void) | undefined;
  private stopped = false;

  /** @param inner the store behind the cache, which is neither started nor stopped here */
  constructor(inner: Storage, options: Partial<CacheOptions> = {}) {
    this.inner = inner;
    this.options = { ...defaultCacheOptions, ...options };
    this.backlog = new WatchBacklog(this.options.backlogCharacters);
    this.recent = new RecentObjects(() => this.options.timers.elapsed());
    this.lanes = new UpdateLanes(this.options.timers);
    this.budget = this.options.budget(
      () => this.bytes,
      () => this.selectVictims(undefined, 0),
    );
    this.forms = new FormBlocks(() => this.roomForForms());
    this.scheduleSweep();
  }

  /** The sizes of the caches that can be read at the moment. */
  *statistics(): Generator<CacheStatistics> {
    for (const { resource, cache, watchers } of this.cachers.values()) {
      if (cache !== undefined) yield { resource, objects: cache.objects, bytes: cache.bytes, watchers };
    }
  }

  /** Estimated memory of the cached forms of objects, in bytes. */
  get formBytes(): number {
    return this.forms.bytes;
  }

  /** Ends all watches and drops all caches. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.cancelSweep?.();
    this.budget.stop();
    this.recent.clear();
    this.forms.drop();
    await Promise.all([...this.cachers.values()].map((cacher) => cacher.stop()));
  }

  async create(key: StorageKey, uid: string, json: string, options?: StorageCreateOptions): Promise<StoredObject> {
    return this.remembered(await this.inner.create(key, uid, json, options));
  }

  async guaranteedUpdate(
    key: StorageKey,
    options: UpdateOptions,
    tryUpdate: (current: StoredObject | undefined) => Promise<UpdateDecision> | UpdateDecision,
  ): Promise<UpdateResult> {
    const turn = this.lanes.enter(key);
    let left: StoredObject | undefined;
    try {
      const previous = turn === undefined ? undefined : await turn;
      const result = await this.inner.guaranteedUpdate(key, this.withCopy(key, options, previous), tryUpdate);
      if (result.outcome === 'deleted') {
        this.recent.forget(key);
        return result;
      }
      left = this.remembered(result.object);
      return result;
    } finally {
      this.lanes.leave(key, left);
    }
  }

  /**
   * Adds a copy of the object, which saves the read of the update. If the copy turns out stale, the refused write
   * returns the newest state.
   *
   * @param previous the object as an update before this one has left it, if that is known
   */
  private withCopy(key: StorageKey, options: UpdateOptions, previous: StoredObject | undefined): UpdateOptions {
    const { cache } = this.cachers.get(key.resource) ?? {};
    const cachedCopy =
      previous ??
      options.cachedCopy ??
      (cache === undefined ? this.recent.get(key) : cache.get(key.namespace, key.name));
    return cachedCopy === undefined ? options : { ...options, cachedCopy };
  }

  async writeTogether(writes: readonly Write[]): Promise<readonly TiedWriteAnswer[]> {
    const answers = await this.inner.writeTogether(writes);
    for (const [i, answer] of answers.entries()) {
      const { op, key, uid, json } = writes[i] as Write;
      if (answer.kind !== 'written') continue;
      if (op === 'delete') this.recent.forget(key);
      else this.remembered({ key, uid, json, resourceVersion: answer.resourceVersion });
    }
    return answers;
  }

  async get(key: StorageKey, notOlderThan?: bigint): Promise<StoredObject | undefined> {
    const cacher = this.cachers.get(key.resource);
    if (notOlderThan === undefined || cacher?.cache === undefined) {
      const found = await this.inner.get(key, notOlderThan);
      return found === undefined ? undefined : this.remembered(found);
    }
    cacher.touch();
    await this.waitFor(cacher, notOlderThan);
    const { cache } = cacher;
    if (cache === undefined) return this.inner.get(key, notOlderThan);
    this.options.observer.read(key.resource, true);
    return this.newerThan(cacher, cache, key) ?? cache.get(key.namespace, key.name);
  }

  /**
   * The object as this process has just read or written it, while its cache does not have that state yet: a client that
   * asks for any version of what it has changed must not take its own change back.
   */
  private newerThan(cacher: Cacher, { position }: WatchCache, key: StorageKey): StoredObject | undefined {
    const seen = this.recent.get(key);
    if (seen === undefined || seen.resourceVersion <= position) return undefined;
    return cacher.versions.isKnownGone(seen.resourceVersion) ? undefined : seen;
  }

  shared({ resource, namespace, name }: StorageKey, resourceVersion: bigint): SharedObject | undefined {
    const object = this.cachers.get(resource)?.cache?.entries.get(namespace, name);
    if (object?.resourceVersion !== resourceVersion) return undefined;
    this.formsUsedAt = this.options.timers.elapsed();
    return { object, forms: this.forms };
  }

  async list(query: ListQuery): Promise<ListPage> {
    if (!this.mayAnswer(query)) {
      this.options.observer.read(query.resource, false);
      return this.listInner(query);
    }
    const began = performance.now();
    const elapsed = this.options.timers.elapsed();
    const cacher = this.cacher(query.resource);
    cacher.touch();
    const { fillWaitMs, partFillWaitMs } = this.options;
    const wantsAll = query.namespace === undefined && query.name === undefined && query.limit === undefined;
    // The client has something to do while it waits, and the pages after this one are mostly wanted, too.
    const waitMs =
      query.after === undefined ? partFillWaitMs : Math.max(partFillWaitMs, cacher.fillTimeLeft(fillWaitMs));
    const isFilled = (await cacher.ready(wantsAll ? fillWaitMs : waitMs)) !== undefined;
    const cache = isFilled ? await this.cacheFor(cacher, query) : undefined;
    const page = cache === undefined ? undefined : await inTurns(cache.lists(query));
    // The next page of the newest list requests its version again.
    const isNewest = query.at === undefined && query.notOlderThan === undefined;
    if (page?.more === true && isNewest) cacher.versions.noteListable(page.resourceVersion, elapsed);
    this.options.observer.read(query.resource, page !== undefined);
    if (page === undefined) return this.listInner(query);
    this.options.observer.listed(query.resource, true, page.items.length, performance.now() - began);
    this.formsUsedAt = cacher.usedAt;
    return { ...page, forms: this.forms };
  }

  /** Lists from the database. */
  private async listInner(query: ListQuery): Promise<ListPage> {
    const began = performance.now();
    const page = await this.inner.list(query);
    this.options.observer.listed(query.resource, false, page.items.length, performance.now() - began);
    return page;
  }

  head(): Promise<bigint> {
    return this.inner.head();
  }

  compactRevision(): Promise<bigint> {
    return this.inner.compactRevision();
  }

  watch(scope: WatchScope, from: bigint): Promise<ChangeSubscription> {
    if (this.stopped) return Promise.reject(new StorageError('Closed', 'storage is shutting down'));
    if (!this.isCached(scope.resource)) return this.inner.watch(scope, from);
    return this.cacher(scope.resource).watch(scope, from);
  }

  aged(query: AgedQuery): Promise<AgedPage> {
    return this.inner.aged(query);
  }

  usage(key: StorageKey): StorageUsage {
    const cacher = this.cachers.get(key.resource);
    if (cacher === undefined) return unknownUsage;
    const objects = cacher.knownObjects(key.namespace);
    return { objects, isInMemory: cacher.cache !== undefined, watchers: cacher.watchersOf(key) };
  }

  lostVersions(): LostVersions | undefined {
    return this.inner.lostVersions();
  }

  ping(): Promise<void> {
    return this.inner.ping();
  }

  readonly isKept = ({ key, resourceVersion }: Change): boolean => {
    const { cache } = this.cachers.get(key.resource) ?? {};
    return cache !== undefined && resourceVersion > cache.oldest;
  };

  private isCached(resource: string): boolean {
    return this.options.leastChanges(resource) > 0;
  }

  /** Whether lists of this kind may be served from memory. */
  private mayAnswer({ resource, at, notOlderThan }: ListQuery): boolean {
    if (!this.isCached(resource)) return false;
    if (at !== undefined) return this.options.pastLists;
    return notOlderThan !== undefined || this.options.consistentLists;
  }

  /** Stores an object for the update or the read that may follow, unless the cache of its resource has it. */
  private remembered(object: StoredObject): StoredObject {
    const { cache } = this.cachers.get(object.key.resource) ?? {};
    if (cache === undefined || cache.position < object.resourceVersion) this.recent.remember(object);
    return object;
  }

  /** The cache once it is new enough for the query; undefined when the database must be queried. */
  private async cacheFor(cacher: Cacher, query: ListQuery): Promise<WatchCache | undefined> {
    if (query.at !== undefined) return (await cacher.versions.isListable(query.at)) ? cacher.cache : undefined;
    if (query.notOlderThan !== undefined) {
      await this.waitFor(cacher, query.notOlderThan);
      return cacher.cache;
    }
    const before = cacher.cache?.position ?? 0n;
    const head = await this.inner.head();
    if (head < before) {
      // The database lost versions that the cache shows.
      cacher.drop('epoch');
      return undefined;
    }
    const isReached = await this.reached(cacher, head);
    this.options.observer.readNewest(cacher.resource, isReached);
    return isReached ? cacher.cache : undefined;
  }

  /** Waits for a version that may come from another process; throws `TooLargeVersion` when it does not come. */
  private async waitFor(cacher: Cacher, version: bigint): Promise<void> {
    if (cacher.cache === undefined || cacher.cache.position >= version) return;
    const head = await this.inner.head();
    if (await this.reached(cacher, version)) return;
    if (cacher.cache === undefined) return;
    // The version is committed, but the feed does not deliver it: the database must be queried.
    if (head >= version) return cacher.drop('feed');
    const message = `version ${version} is too large; the newest is ${head}`;
    throw new StorageError('TooLargeVersion', message, { resourceVersion: head });
  }

  private async reached(cacher: Cacher, version: bigint): Promise<boolean> {
    const began = performance.now();
    const isReached = await cacher.reached(version, this.options.futureWaitMs);
    this.options.observer.waited(cacher.resource, performance.now() - began);
    return isReached;
  }

  private cacher(resource: string): Cacher {
    let cacher = this.cachers.get(resource);
    if (cacher === undefined) {
      const budget = { most: () => this.most, admits: (bytes: number) => this.selectVictims(resource, bytes) };
      cacher = new Cacher(resource, this.inner, this.options, budget, this);
      this.cachers.set(resource, cacher);
    }
    return cacher;
  }

  forget(resource: string): void {
    const cacher = this.cachers.get(resource);
    if (cacher === undefined) return;
    this.cachers.delete(resource);
    void cacher.retire().finally(() => this.options.observer.gone(resource));
  }

  /** Bytes of all caches, including caches that are being filled. */
  private get bytes(): number {
    let sum = 0;
    for (const { bytes } of this.cachers.values()) sum += bytes;
    return sum;
  }

  /** The most bytes that all caches together may use. */
  private get most(): number {
    return Math.min(this.options.maxBytes, this.budget.most);
  }

  private scheduleSweep(): void {
    this.cancelSweep = this.options.timers.after(SWEEP_MS, () => {
      this.sweep();
      if (!this.stopped) this.scheduleSweep();
    });
  }

  private sweep(): void {
    const { timers, idleMs } = this.options;
    for (const [resource, cacher] of this.cachers) {
      if (timers.elapsed() - cacher.usedAt < idleMs) continue;
      cacher.drop('idle');
      if (cacher.bytes === 0 && cacher.watchers === 0) this.cachers.delete(resource);
    }
    if (timers.elapsed() - this.formsUsedAt >= idleMs) this.forms.drop();
    this.selectVictims(undefined, 0);
  }

  /**
   * Forms may use the memory that objects leave free, up to a small limit: objects are worth more, as a missing one
   * costs a database read.
   */
  private roomForForms(): number {
    const { most } = this;
    return Math.min(most / FORMS_PART, most - this.bytes);
  }

  /**
   * Drops the caches that have been unused for longest until the rest fits, unwatched ones first. Returns whether a
   * cache that is being filled and needs `bytes` can fit at all.
   */
  private selectVictims(filling: string | undefined, bytes: number): boolean {
    const { most } = this;
    if (bytes > most) return false;
    const others = [...this.cachers.values()].filter(({ resource, bytes }) => resource !== filling && bytes > 0);
    let total = others.reduce((sum, cacher) => sum + cacher.bytes, bytes);
    if (total + this.forms.bytes > most) this.forms.drop();
    if (total <= most) return true;
    const watched = (cacher: Cacher) => (cacher.watchers > 0 ? 1 : 0);
    others.sort((a, b) => watched(a) - watched(b) || a.usedAt - b.usedAt || b.bytes - a.bytes);
    for (const cacher of others) {
      if (total <= most) break;
      // A cache that is being filled does not displace a watched one.
      if (filling !== undefined && watched(cacher) === 1) return false;
      total -= cacher.bytes;
      cacher.drop('budget');
    }
    return total <= most;
  }
}
