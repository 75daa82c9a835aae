import type { BufferLimits } from '../feed/subscription.js';
import type { LateWatcher, WatchBacklog } from '../feed/watch-backlog.js';
import type { Change, ChangeBatch, ChangeSubscription, TakeBatch, WatchScope } from '../storage.interface.js';
import type { StorageError } from '../storage-error.js';
import type { DeliveryTurn, DueWatcher } from './delivery.js';

/** A batch and its size, measured once for all watchers that buffer it. */
export interface SizedBatch extends ChangeBatch {
  /** UTF-16 units of the JSON of its changes. */
  readonly characters: number;
  /** The number of watchers that have the batch in their queues. */
  holders: number;
}

export function sizedBatch(changes: readonly Change[], position: bigint): SizedBatch {
  let characters = 0;
  for (const change of changes) characters += change.json.length;
  return { changes, position, characters, holders: 0 };
}

/** The source of a watcher's changes. */
export interface WatcherHome {
  /** The changes that watchers have not received yet. */
  readonly backlog: WatchBacklog;
  /** Opens a subscription to the database's log after `from`. */
  openLog(scope: WatchScope, from: bigint): Promise<ChangeSubscription>;
  /**
   * Registers the watcher for live changes if the cache holds everything after `position`, and returns the changes it
   * has missed so far. Undefined when there is no cache or it does not go back that far.
   */
  join(watcher: CacheWatcher, position: bigint): ChangeBatch | undefined;
  leave(watcher: CacheWatcher): void;
  /** The version up to which live watchers have been offered all changes; undefined when there is no cache. */
  readonly offeredUpTo: bigint | undefined;
  /** Sends the watcher positions without changes, the next ones without delay until `hurried` is reached. */
  addPositionReceiver(watcher: CacheWatcher, hurried: bigint): void;
  /** Sends the watcher no more positions without changes. */
  removePositionReceiver(watcher: CacheWatcher): void;
  /** Calls {@link CacheWatcher.hand} when it is the watcher's turn. */
  turn(watcher: CacheWatcher): void;
}

/** A consumer to which changes are pushed as they come, see `ChangeSubscription.follow`. */
interface Consumer {
  readonly take: TakeBatch;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
  /** Set while the consumer works on a batch, or the next batch is read from the log. */
  isBusy: boolean;
}

/** Batches whose total size is at most this are handed over as one, in UTF-16 units. */
const JOINED_CHARACTERS = 128 * 1024;

/**
 * One watch of a cached resource. In state `log` it reads the log through a subscription of its own, until the cache
 * goes back far enough to take it over. In state `live` it receives the changes of the cache through a bounded buffer.
 * A dropped cache moves its watchers back to `log`, after the last change that they received. So no change is skipped
 * or doubled.
 *
 * Watchers of the same scope share batches: never change a batch, except for its number of holders.
 *
 * Thousands of watches may be followed that hardly any change concerns. They receive no positions without changes,
 * which would cost each of them something for the changes of all others: {@link quietPosition} finds out when asked.
 */
export class CacheWatcher implements ChangeSubscription, DueWatcher, LateWatcher {
  readonly scope: WatchScope;
  lastTurn: DeliveryTurn | undefined;
  private readonly home: WatcherHome;
  private readonly limits: BufferLimits;
  private log: ChangeSubscription | undefined;
  private isLive = false;
  private queue: SizedBatch[] = [];
  private queuedChanges = 0;
  private characters = 0;
  /** The watcher is complete up to this version once the queue is empty. */
  private position: bigint;
  private sentPosition: bigint;
  private failure: StorageError | undefined;
  private readonly failureListeners: (() => void)[] = [];
  private closed = false;
  private waiting: { resolve: (batch: ChangeBatch | undefined) => void; reject: (error: unknown) => void } | undefined;
  private consumer: Consumer | undefined;
  private isHurried = false;

  /**
   * @param from the last version that the consumer has
   * @param log a subscription that continues from there, for when the cache can't
   */
  constructor(
    scope: WatchScope,
    from: bigint,
    home: WatcherHome,
    limits: BufferLimits,
    log: ChangeSubscription | undefined,
  ) {
    this.scope = scope;
    this.home = home;
    this.limits = limits;
    this.position = from;
    this.sentPosition = from;
    if (log !== undefined) this.attach(log);
  }

  get owner(): string | undefined {
    return this.scope.owner;
  }

  get queuedCharacters(): number {
    return this.characters;
  }

  /** Whether the watcher is to receive positions without changes. */
  get wantsPositions(): boolean {
    return this.consumer === undefined || this.isHurried;
  }

  get quietPosition(): bigint | undefined {
    if (!this.isLive || this.closed || this.failure !== undefined) return undefined;
    if (this.queue.length > 0 || this.consumer?.isBusy === true) return undefined;
    const { offeredUpTo } = this.home;
    if (offeredUpTo !== undefined && offeredUpTo > this.position) this.position = offeredUpTo;
    this.sentPosition = this.position;
    return this.position;
  }

  hasten(version: bigint): void {
    this.isHurried = true;
    if (this.isLive) this.home.addPositionReceiver(this, version);
    else this.log?.hasten?.(version);
  }

  /** Receives the changes after the position from the cache; false when the cache does not go back that far. */
  tryJoin(): boolean {
    const missed = this.home.join(this, this.position);
    if (missed === undefined) return false;
    this.isLive = true;
    // The cache may be behind the position for a moment.
    if (missed.position > this.position) {
      if (missed.changes.length > 0) this.enqueue(sizedBatch(missed.changes, missed.position));
      else this.position = missed.position;
    }
    return true;
  }

  async next(): Promise<ChangeBatch | undefined> {
    if (this.waiting !== undefined) throw new Error('next() is already waiting');
    if (this.closed) return undefined;
    if (this.failure !== undefined) throw this.failure;
    const batch = this.take();
    if (batch !== undefined) return batch;
    if (!this.isLive) return this.nextOfLog();
    return new Promise((resolve, reject) => {
      this.waiting = { resolve, reject };
    });
  }

  follow(take: TakeBatch): Promise<void> {
    return new Promise((resolve, reject) => {
      this.consumer = { take, resolve, reject, isBusy: false };
      if (!this.isHurried) this.home.removePositionReceiver(this);
      this.hand();
    });
  }

  onFailure(listener: () => void): void {
    if (this.failure === undefined) this.failureListeners.push(listener);
    else listener();
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.dropQueue();
    this.log?.close();
    this.home.leave(this);
    const waiting = this.waiting;
    this.waiting = undefined;
    waiting?.resolve(undefined);
    this.releaseConsumer()?.resolve();
  }

  /**
   * Offers the next changes of the scope. Returns `due` if the consumer receives them at its next turn, `slow` if the
   * consumer is too far behind to accept any more.
   */
  offer(batch: SizedBatch): 'taken' | 'due' | 'slow' {
    if (this.closed || this.failure !== undefined || batch.position <= this.position) return 'taken';
    const first = batch.changes[0];
    const position = this.position;
    const overlaps = first !== undefined && first.resourceVersion <= position;
    const behind = (change: Change) => change.resourceVersion > position;
    this.enqueue(overlaps ? sizedBatch(batch.changes.filter(behind), batch.position) : batch);
    if (this.consumer?.isBusy === false) return 'due';
    this.settle();
    const { changes, characters } = this.limits;
    return this.queuedChanges <= changes && this.characters <= characters ? 'taken' : 'slow';
  }

  /** Records that the scope is complete up to `position`. */
  advance(position: bigint): void {
    if (this.closed || this.failure !== undefined || position <= this.position) return;
    this.position = position;
    // Whether a consumer that has changes before its position waits for its turn.
    if (this.consumer === undefined) this.settle();
    else if (this.queue.length === 0) this.hand();
  }

  /** Passes everything to the consumer that it can accept now. */
  hand(): void {
    const { consumer } = this;
    if (consumer === undefined || consumer.isBusy) return;
    try {
      if (this.failure !== undefined) throw this.failure;
      while (!this.closed) {
        const batch = this.take();
        if (batch === undefined) break;
        const taking = consumer.take(batch);
        if (taking === undefined) continue;
        this.await(consumer, taking);
        return;
      }
      if (this.closed) this.releaseConsumer()?.resolve();
      else if (!this.isLive) this.await(consumer, this.takeOfLog(consumer));
    } catch (error) {
      this.releaseConsumer()?.reject(error);
    }
  }

  /**
   * Moves the watcher from a dropped cache to the log: everything up to `position` was offered; later changes come from
   * the log.
   */
  rehome(position: bigint): void {
    if (position > this.position) this.position = position;
    this.isLive = false;
    if (this.consumer !== undefined) this.home.turn(this);
    const waiting = this.waiting;
    if (waiting === undefined) return;
    this.waiting = undefined;
    this.next().then(waiting.resolve, waiting.reject);
  }

  /** Ends the watch with an error and drops the changes that were not fetched. */
  fail(error: StorageError): void {
    if (this.closed || this.failure !== undefined) return;
    this.failure = error;
    this.dropQueue();
    this.log?.close();
    this.home.leave(this);
    const waiting = this.waiting;
    this.waiting = undefined;
    waiting?.reject(error);
    this.releaseConsumer()?.reject(error);
    for (const listener of this.failureListeners.splice(0)) listener();
  }

  private attach(log: ChangeSubscription): void {
    this.log = log;
    log.onFailure(() => {
      if (this.log === log) for (const listener of this.failureListeners.splice(0)) listener();
    });
  }

  private async nextOfLog(): Promise<ChangeBatch | undefined> {
    if (this.log === undefined && this.tryJoin()) return this.next();
    const log = this.log ?? (await this.home.openLog(this.scope, this.position));
    if (this.closed) {
      log.close();
      return undefined;
    }
    if (this.log !== log) this.attach(log);
    const batch = await log.next();
    if (batch === undefined) return undefined;
    this.position = batch.position;
    this.sentPosition = batch.position;
    if (this.tryJoin()) {
      this.log = undefined;
      log.close();
    }
    return batch;
  }

  /** Queues the consumer for another turn when it has finished the current work. */
  private await(consumer: Consumer, work: Promise<void>): void {
    consumer.isBusy = true;
    work.then(
      () => {
        consumer.isBusy = false;
        if (this.consumer === consumer) this.home.turn(this);
      },
      (error: unknown) => {
        if (this.consumer === consumer) this.releaseConsumer()?.reject(error);
      },
    );
  }

  private async takeOfLog({ take }: Consumer): Promise<void> {
    if (this.log === undefined && this.tryJoin()) return;
    const batch = await this.nextOfLog();
    if (batch === undefined) this.releaseConsumer()?.resolve();
    else if (this.consumer !== undefined) await take(batch);
  }

  private releaseConsumer(): Consumer | undefined {
    const { consumer } = this;
    this.consumer = undefined;
    return consumer;
  }

  private enqueue(batch: SizedBatch): void {
    this.position = batch.position;
    this.queue.push(batch);
    this.queuedChanges += batch.changes.length;
    this.characters += batch.characters;
    const { backlog } = this.home;
    if (batch.holders++ === 0) backlog.hold(batch.changes);
    if (this.queue.length === 1) backlog.add(this);
  }

  /** Releases batches that the consumer has received, or no longer wants. */
  private release(batches: readonly SizedBatch[]): void {
    const { backlog } = this.home;
    for (const batch of batches) if (--batch.holders === 0) backlog.release(batch.changes);
    if (this.queue.length === 0) backlog.delete(this);
  }

  private dropQueue(): void {
    const { queue } = this;
    this.queue = [];
    this.queuedChanges = 0;
    this.characters = 0;
    this.release(queue);
  }

  /** Passes the next batch to a consumer that is waiting for it. */
  private settle(): void {
    const waiting = this.waiting;
    if (waiting === undefined) return;
    const batch = this.take();
    if (batch === undefined) return;
    this.waiting = undefined;
    waiting.resolve(batch);
  }

  private take(): ChangeBatch | undefined {
    const batch = this.joined();
    if (batch !== undefined) {
      this.queuedChanges -= batch.changes.length;
      this.characters -= batch.characters;
      this.sentPosition = batch.position;
      return batch;
    }
    if (this.position <= this.sentPosition) return undefined;
    this.sentPosition = this.position;
    return { changes: [], position: this.position };
  }

  /** Removes the first batches of the queue as one joined batch, which watchers with the same queue share. */
  private joined(): SizedBatch | undefined {
    const { queue } = this;
    const first = queue[0];
    if (first === undefined) return undefined;
    let count = 1;
    let characters = first.characters;
    for (let next = queue[1]; next !== undefined; next = queue[count]) {
      characters += next.characters;
      if (characters > JOINED_CHARACTERS) break;
      count += 1;
    }
    if (count === queue.length) this.queue = [];
    else this.queue = queue.slice(count);
    const taken = queue.slice(0, count);
    this.release(taken);
    return count === 1 ? first : join(taken);
  }
}

/**
 * The batches that were joined last, and the result: watchers whose turns follow each other mostly have the same
 * batches.
 */
let lastJoined: { readonly batches: readonly SizedBatch[]; readonly batch: SizedBatch } | undefined;

function join(batches: readonly SizedBatch[]): SizedBatch {
  const last = lastJoined?.batches;
  if (lastJoined !== undefined && last?.length === batches.length && batches.every((batch, i) => batch === last[i])) {
    return lastJoined.batch;
  }
  const position = (batches.at(-1) as SizedBatch).position;
  const batch = sizedBatch(
    batches.flatMap(({ changes }) => changes),
    position,
  );
  lastJoined = { batches, batch };
  return batch;
}
