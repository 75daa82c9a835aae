import { LinkedItems } from '../../base/machinery/linked-items.js';
import type { LateWatcher, WatchBacklog } from '../feed/watch-backlog.js';
import type { Change, ChangeBatch, ChangeSubscription, Storage, WatchScope } from '../storage.interface.js';
import { StorageError } from '../storage-error.js';
import type { StorageKey } from '../storage-key.js';
import type { CacheBudget } from './cache-budget.js';
import { CacheFill } from './cache-fill.js';
import type { CacheOptions, DropReason } from './cache-options.js';
import { CacheWatcher, type WatcherHome } from './cache-watcher.js';
import { Delivery } from './delivery.js';
import { ReadableVersions } from './readable-versions.js';
import type { WatchCache } from './watch-cache.js';
import { WatcherGroups } from './watcher-groups.js';

interface Waiter {
  readonly version: bigint;
  readonly settle: (reached: boolean) => void;
}

/** State that the caches of all resources share. */
export interface SharedAmongCaches {
  readonly backlog: WatchBacklog;
  /** Whether the cache of the change's resource retains the change anyway. */
  isKept(change: Change): boolean;
}

interface Cold {
  readonly kind: 'cold';
  /** When the cache may be filled again, by the clock of the timers. */
  readonly until: number;
}

interface Filling {
  readonly kind: 'filling';
  readonly fill: CacheFill;
  /** By the clock of the timers. */
  readonly began: number;
  /** Resolves when the cache is live or cold. */
  readonly done: Promise<void>;
}

/** A cache that can be read, and the subscription that keeps it up to date. */
interface Live {
  readonly kind: 'live';
  readonly cache: WatchCache;
  readonly subscription: ChangeSubscription;
}

/**
 * The cache of one resource through its life: `cold`, `filling` from one snapshot, `live` while its subscription to the
 * change feed lasts, and cold again when the subscription ends or the cache is dropped. Watches outlive the cache and
 * continue from the log. Only an `Expired` of the feed ends them as well.
 */
export class Cacher implements WatcherHome {
  readonly resource: string;
  readonly backlog: WatchBacklog;
  readonly versions: ReadableVersions;
  private readonly inner: Storage;
  private readonly options: CacheOptions;
  private readonly budget: CacheBudget;
  private readonly shared: SharedAmongCaches;
  private readonly groups = new WatcherGroups();
  private readonly delivery: Delivery;
  private readonly waiters = new LinkedItems<Waiter>();
  private state: Cold | Filling | Live = { kind: 'cold', until: 0 };
  /** `retired`: the cache stays cold. `stopped`: the watches end as well. */
  private end: 'retired' | 'stopped' | undefined;
  private following: Promise<void> | undefined;
  private countedObjects: number | undefined;
  private lastUsedAt: number;
  /** The position that was last sent to watchers without changes, and the time, by the clock of the timers. */
  private sentPosition = 0n;
  private sentAt = Number.NEGATIVE_INFINITY;
  /** Cancels the scheduled sending of positions; undefined when none is scheduled. */
  private cancelSend: (() => void) | undefined;

  constructor(resource: string, inner: Storage, options: CacheOptions, budget: CacheBudget, shared: SharedAmongCaches) {
    this.resource = resource;
    this.inner = inner;
    this.options = options;
    this.budget = budget;
    this.shared = shared;
    this.backlog = shared.backlog;
    this.lastUsedAt = options.timers.elapsed();
    this.delivery = new Delivery(options.timers);
    this.versions = new ReadableVersions(inner, options.timers);
  }

  private get live(): Live | undefined {
    return this.state.kind === 'live' ? this.state : undefined;
  }

  /** The cache, while it can be read. */
  get cache(): WatchCache | undefined {
    if (this.live === undefined) return undefined;
    const { cache, subscription } = this.live;
    const { quietPosition } = subscription;
    if (quietPosition !== undefined && quietPosition > cache.position) cache.apply([], quietPosition);
    return cache;
  }

  /** Bytes in use, including those of a cache that is being filled. */
  get bytes(): number {
    const { state } = this;
    if (state.kind === 'live') return state.cache.bytes;
    return state.kind === 'filling' ? state.fill.bytes : 0;
  }

  get watchers(): number {
    return this.groups.size;
  }

  /**
   * The number of objects in a namespace ('' for all) while the cache is live. Otherwise the number of all objects when
   * they were last counted; undefined if they never were.
   */
  knownObjects(namespace: string): number | undefined {
    const filling = this.state.kind === 'filling' ? this.state.fill.objects : undefined;
    return this.live?.cache.objectsIn(namespace) ?? filling ?? this.countedObjects;
  }

  /** The watchers that receive a change of the object. */
  watchersOf(key: StorageKey): number {
    return this.groups.concernedBy(key);
  }

  /** When the cache was last read, by the clock of the timers. A watched cache is always in use. */
  get usedAt(): number {
    return this.groups.size > 0 ? this.options.timers.elapsed() : this.lastUsedAt;
  }

  touch(): void {
    this.lastUsedAt = this.options.timers.elapsed();
  }

  /** Starts to fill a cold cache and waits for it at most `waitMs`; undefined when the cache can't be read by then. */
  async ready(waitMs: number): Promise<WatchCache | undefined> {
    const { timers } = this.options;
    const { state } = this;
    if (state.kind === 'live') return this.cache;
    if (this.end !== undefined || (state.kind === 'cold' && timers.elapsed() < state.until)) return undefined;
    const { done } = state.kind === 'filling' ? state : this.startFilling();
    if (waitMs > 0) {
      let cancel: (() => void) | undefined;
      const timeout = new Promise<void>((resolve) => {
        cancel = timers.after(waitMs, resolve);
      });
      await Promise.race([done, timeout]);
      cancel?.();
    }
    return this.cache;
  }

  /** How much of this time is left of what passes since the cache began to be filled; 0 unless it is being filled. */
  fillTimeLeft(milliseconds: number): number {
    const { state } = this;
    return state.kind === 'filling' ? Math.max(0, state.began + milliseconds - this.options.timers.elapsed()) : 0;
  }

  /** True once the cache has reached `version`; false when it has not done so after `waitMs`, or was dropped. */
  reached(version: bigint, waitMs: number): Promise<boolean> {
    const { cache } = this;
    if (cache === undefined) return Promise.resolve(false);
    if (cache.position >= version) return Promise.resolve(true);
    return new Promise((resolve) => {
      const waiter: Waiter = {
        version,
        settle: (reached) => {
          cancel();
          this.waiters.remove(place);
          resolve(reached);
        },
      };
      const cancel = this.options.timers.after(waitMs, () => waiter.settle(false));
      const place = this.waiters.add(waiter);
      this.live?.subscription.hasten?.(version);
    });
  }

  /** Frees the memory. A cache that did not fit stays cold for a while. */
  drop(reason: DropReason): void {
    const { live } = this;
    if (live === undefined) return;
    this.release(live, reason === 'budget' ? this.longCold() : { kind: 'cold', until: 0 });
    live.subscription.close();
    this.options.observer.dropped(this.resource, reason);
    const lost =
      reason === 'epoch'
        ? new StorageError('Expired', `the newest version went back behind ${live.cache.position}`)
        : undefined;
    for (const watcher of this.groups.all()) {
      if (lost !== undefined) {
        watcher.fail(lost);
        continue;
      }
      this.groups.delete(watcher);
      watcher.rehome(live.cache.position);
    }
  }

  /**
   * Whether a watch may start after `from`. Like {@link ReadableVersions.isReadable}, but need not wait for a database that is down. The existing watches continue
   * from memory as well. If the database comes back without the versions that they saw, all of them end with `Expired`.
   */
  private async isResumable(from: bigint): Promise<boolean> {
    const inMemory = (): boolean => {
      const { cache } = this;
      if (cache === undefined || this.versions.isKnownGone(from)) return false;
      return from >= cache.oldest && from <= cache.position;
    };
    const asked = this.versions.isReadable(from).catch((error: unknown) => {
      if (error instanceof StorageError && error.code === 'Unavailable' && inMemory()) return true;
      throw error;
    });
    if (!inMemory()) return asked;
    const { timers, fillWaitMs } = this.options;
    return new Promise((resolve, reject) => {
      const cancel = timers.after(fillWaitMs, () => {
        if (inMemory()) resolve(true);
      });
      asked.then(resolve, reject).finally(cancel);
    });
  }

  /** See `Storage.watch`. */
  async watch(scope: WatchScope, from: bigint): Promise<ChangeSubscription> {
    this.touch();
    const { buffer, fillWaitMs, futureWaitMs } = this.options;
    const cache = await this.ready(fillWaitMs);
    if (!(await this.isResumable(from))) return this.inner.watch(scope, from);
    if (cache !== undefined && from > cache.position) {
      // Reading the head also makes the feed look for newer versions.
      await this.inner.head();
      if (!(await this.reached(from, futureWaitMs)) && this.cache !== undefined) {
        const resourceVersion = this.cache.position;
        const message = `version ${from} is too large; the newest is ${resourceVersion}`;
        throw new StorageError('TooLargeVersion', message, { resourceVersion });
      }
    }
    const watcher = new CacheWatcher(scope, from, this, buffer, undefined);
    if (watcher.tryJoin()) return watcher;
    return new CacheWatcher(scope, from, this, buffer, await this.inner.watch(scope, from));
  }

  openLog(scope: WatchScope, from: bigint): Promise<ChangeSubscription> {
    return this.inner.watch(scope, from);
  }

  join(watcher: CacheWatcher, position: bigint): ChangeBatch | undefined {
    const { cache } = this;
    const changes = cache?.changesAfter(position, watcher.scope);
    if (cache === undefined || changes === undefined) return undefined;
    this.groups.add(watcher);
    return { changes, position: cache.position };
  }

  turn(watcher: CacheWatcher): void {
    this.delivery.add(watcher);
    this.delivery.start();
  }

  leave(watcher: CacheWatcher): void {
    this.groups.delete(watcher);
    this.touch();
  }

  get offeredUpTo(): bigint | undefined {
    return this.cache?.position;
  }

  addPositionReceiver(watcher: CacheWatcher, hurried: bigint): void {
    this.groups.addPositionReceiver(watcher);
    this.live?.subscription.hasten?.(hurried);
    const position = this.offeredUpTo;
    if (position !== undefined) watcher.advance(position);
  }

  removePositionReceiver(watcher: CacheWatcher): void {
    this.groups.removePositionReceiver(watcher);
  }

  /** Drops the cache permanently, even if it is being filled. Its watches continue from the log. */
  async retire(): Promise<void> {
    this.end ??= 'retired';
    this.drop('gone');
    await this.filled();
    this.drop('gone');
  }

  /** Releases everything and ends all watches with `Closed`. */
  async stop(): Promise<void> {
    this.end = 'stopped';
    if (this.state.kind === 'filling') this.state.fill.stop();
    this.live?.subscription.close();
    await this.filled();
    this.live?.subscription.close();
    await this.following;
    const closed = new StorageError('Closed', 'storage is shutting down');
    for (const watcher of this.groups.all()) watcher.fail(closed);
  }

  /** Waits until the cache is no longer being filled. */
  private async filled(): Promise<void> {
    if (this.state.kind === 'filling') await this.state.done;
  }

  /** A cache that did not fit is not filled again soon. */
  private longCold(): Cold {
    const { timers, idleMs } = this.options;
    return { kind: 'cold', until: timers.elapsed() + idleMs };
  }

  private startFilling(): Filling {
    const { timers, observer } = this.options;
    const fill = new CacheFill(this.resource, this.inner, this.options, this.budget);
    const began = timers.elapsed();
    const done = this.filledState(fill).then((state) => {
      this.countedObjects = fill.objects ?? this.countedObjects;
      this.state = state;
      if (state.kind !== 'live') return;
      observer.filled(this.resource, state.cache.objects, timers.elapsed() - began);
      this.following = this.follow(state);
    });
    const filling: Filling = { kind: 'filling', fill, began, done };
    this.state = filling;
    return filling;
  }

  private async filledState(fill: CacheFill): Promise<Live | Cold> {
    const { observer } = this.options;
    try {
      const cache = await fill.run();
      if (cache === undefined) {
        observer.dropped(this.resource, 'budget');
        return this.longCold();
      }
      const subscription = await this.inner.watch({ resource: this.resource }, cache.position);
      return { kind: 'live', cache, subscription };
    } catch (error) {
      if (this.end !== 'stopped') observer.backgroundError(`filling the cache of ${this.resource}`, error);
      return { kind: 'cold', until: 0 };
    }
  }

  private async follow(live: Live): Promise<void> {
    const { cache, subscription } = live;
    let failure: StorageError | undefined;
    try {
      for (;;) {
        const batch = await subscription.next();
        if (batch === undefined) break;
        if (this.state !== live) return;
        const changes = cache.apply(batch.changes, batch.position);
        this.options.observer.received(this.resource, changes.length, cache.position);
        for (const waiter of [...this.waiters]) if (waiter.version <= cache.position) waiter.settle(true);
        this.deliver(changes, cache.position);
      }
    } catch (error) {
      if (error instanceof StorageError) failure = error;
      else {
        // A bug: which changes the watchers received is unknown, so they must start over.
        this.options.observer.backgroundError(`the cache of ${this.resource}`, error);
        failure = new StorageError('Expired', `the cache of ${this.resource} lost its place`, { cause: error });
      }
    } finally {
      subscription.close();
    }
    if (this.state !== live) return;
    this.release(live, { kind: 'cold', until: 0 });
    if (this.end !== 'stopped')
      this.options.observer.dropped(this.resource, failure?.code === 'Expired' ? 'epoch' : 'feed');
    for (const watcher of this.groups.all()) {
      if (failure?.code === 'Expired' || failure?.code === 'Closed') watcher.fail(failure);
      else {
        this.groups.delete(watcher);
        watcher.rehome(cache.position);
      }
    }
  }

  private release(live: Live, next: Cold): void {
    this.state = next;
    this.countedObjects = live.cache.objects;
    this.cancelSend?.();
    this.cancelSend = undefined;
    for (const waiter of [...this.waiters]) waiter.settle(false);
  }

  private deliver(changes: readonly Change[], position: bigint): void {
    if (this.groups.size === 0) return;
    if (changes.length > 0) {
      this.offer(changes, position);
      this.options.observer.dispatched(this.resource, changes.length);
    }
    if (this.cancelSend !== undefined || this.groups.positionReceivers.size === 0) return;
    const { timers, quietMs } = this.options;
    const wait = this.sentAt + quietMs - timers.elapsed();
    // For a quiet resource, positions come from the poll, which is already rare enough, so they are sent without
    // another wait.
    if (wait <= 0 && changes.length === 0) this.sendPositions();
    else this.cancelSend = timers.after(Math.max(wait, 0), () => this.sendPositions());
  }

  private offer(changes: readonly Change[], position: bigint): void {
    const { slow, due } = this.groups.offer(changes, position);
    for (const watcher of slow) this.endSlow(watcher);
    this.backlog.relieve(this.shared.isKept, this.endSlow);
    for (const watcher of due) this.delivery.add(watcher);
    this.delivery.start();
  }

  private readonly endSlow = (late: LateWatcher): void => {
    const watcher = late as CacheWatcher;
    const { resource } = watcher.scope;
    this.options.observer.slowConsumer(resource);
    watcher.fail(new StorageError('SlowConsumer', `a watch of ${resource} fell too far behind`));
  };

  /** Sends the position of the cache to the watchers that follow positions and have no changes. */
  private sendPositions(): void {
    this.cancelSend = undefined;
    const position = this.cache?.position;
    if (position === undefined || position === this.sentPosition) return;
    this.sentPosition = position;
    this.sentAt = this.options.timers.elapsed();
    // A copy, because a watcher may leave as soon as it has the position.
    for (const watcher of [...this.groups.positionReceivers]) watcher.advance(position);
  }
}
