import { invariant } from '../../base/machinery/invariant.js';
import { InvariantError } from '../../base/machinery/invariant-error.js';
import type { Change, ChangeSubscription, WatchScope } from '../storage.interface.js';
import { StorageError } from '../storage-error.js';
import type { ChangeLog } from './change-log.js';
import { type BufferLimits, Subscription } from './subscription.js';
import { WatchBacklog } from './watch-backlog.js';

/** The reason for a read of the log. */
export type WakeSource = 'notify' | 'poll' | 'local';

export interface ChangeFeedOptions {
  /** The longest time between two reads of the log while there are subscriptions, in milliseconds. */
  readonly pollMs: number;
  readonly observer: {
    logRead(changes: number, source: WakeSource): void;
    slowConsumer(resource: string): void;
    backgroundError(where: string, error: unknown): void;
  };
  /** Called with the version up to which the log was read. */
  readonly onPosition?: (version: bigint) => void;
  readonly limits?: BufferLimits;
  /**
   * The largest backlog of all subscriptions together, in UTF-16 units of JSON; above it the slowest ones are ended.
   */
  readonly backlogCharacters?: number;
  /** Whether a batch of this process is in progress. Its end is reported to `batchEnded`. */
  readonly isWriting?: () => boolean;
  /** Called when the first subscription of a resource begins and when the last one ends. */
  readonly onFollowed?: (resource: string, isFollowed: boolean) => void;
  /** How long a watch from a version that does not exist yet waits for it, in milliseconds. Default 3,000. */
  readonly futureWaitMs?: number;
  /** Milliseconds from some fixed point, never going back. Default: the clock of the process. */
  readonly now?: () => number;
}

const DEFAULT_LIMITS: BufferLimits = { changes: 50_000, characters: 64 * 1024 * 1024 };
/**
 * The most versions whose notifications are to be ignored: one that never comes must not be remembered forever.
 * Forgetting one costs one read.
 */
const MOST_IGNORED = 10_000;
/** Above this number, notifications that wait for the end of a batch are merged. That costs one read at most. */
const MOST_HELD = 1_000;
/**
 * How long subscriptions without changes may go without a new position, in milliseconds. There are dozens of them, and
 * a busy process has hundreds of batches a second.
 */
const POSITION_INTERVAL_MS = 50;
/** Pause between a failed read and the next. */
const RETRY_MS = 200;

/** What a batch of this process has written. */
export interface OwnBatch {
  readonly newest: bigint;
  readonly resources: ReadonlySet<string>;
  /**
   * Everything that was committed after `after`, up to `newest`, in order, without the changes of the resources in
   * `withheld`; undefined when that is uncertain.
   */
  readonly stretch:
    | {
        readonly after: bigint;
        readonly changes: readonly Change[];
        readonly withheld?: readonly string[] | undefined;
      }
    | undefined;
}

interface Joiner {
  readonly scope: WatchScope;
  readonly from: bigint;
  readonly resolve: (subscription: Subscription) => void;
  readonly reject: (error: unknown) => void;
}

interface Future {
  readonly from: bigint;
  readonly settle: (error: StorageError | undefined) => void;
}

/**
 * The one ordered reader of the log in a process. Versions become visible in commit order, so a read of "everything
 * after the cursor, by rising version" misses nothing and never looks back; gaps mean nothing.
 *
 * The reader works in rounds: it admits new subscriptions, reads the log after the cursor for exactly the resources
 * with subscriptions, delivers the changes and moves the cursor. Subscriptions join only between rounds, which makes
 * joining exact: a subscription that joined at cursor P gets every change after P live, and reads (from, P] itself.
 *
 * A notification or the poll only triggers a read; neither carries data. Only a batch that this process wrote itself
 * need not be read: when no version was assigned between the cursor and the batch, the batch is all that follows the
 * cursor, and it is delivered as written. Otherwise the batch triggers a read as well.
 *
 * The notification of a batch may arrive before its response. So notifications wait for the short time that a batch is
 * in progress; the poll does not. The poll is due a while after the log was last known to be complete up to the cursor,
 * whatever else wakes the reader. So a process that writes all the time finds the writes of others even when no
 * notification arrives. Without subscriptions nothing is read and the cursor is forgotten.
 */
export class ChangeFeed {
  private readonly log: ChangeLog;
  private readonly options: ChangeFeedOptions;
  private readonly limits: BufferLimits;
  private readonly now: () => number;
  private readonly byResource = new Map<string, Set<Subscription>>();
  private readonly futures = new Set<Future>();
  private readonly backlog: WatchBacklog;
  private joiners: Joiner[] = [];
  private cursor: bigint | undefined;
  private heard = 0n;
  /** Newest versions of own batches whose notifications have yet to arrive and are to be ignored. */
  private readonly ignored = new Set<bigint>();
  /** Own batches that have not been processed yet, oldest first. */
  private own: OwnBatch[] = [];
  /** Versions of notifications that wait for the end of an own batch, because they may be about that batch. */
  private held: bigint[] = [];
  /** When the log was last known to end at the cursor. */
  private lookedAt: number;
  private due: WakeSource | undefined;
  private wakeUp: (() => void) | undefined;
  private positionTimer: NodeJS.Timeout | undefined;
  private stopped = false;
  private loop: Promise<void> | undefined;

  constructor(log: ChangeLog, options: ChangeFeedOptions) {
    this.log = log;
    this.options = options;
    this.limits = options.limits ?? DEFAULT_LIMITS;
    this.backlog = new WatchBacklog(options.backlogCharacters ?? Number.POSITIVE_INFINITY);
    this.now = options.now ?? (() => performance.now());
    this.lookedAt = this.now();
  }

  start(): void {
    this.loop = this.run();
  }

  /** Ends every subscription with `Closed`. */
  async stop(): Promise<void> {
    this.stopped = true;
    const closed = new StorageError('Closed', 'storage is shutting down');
    for (const joiner of this.joiners.splice(0)) joiner.reject(closed);
    for (const future of [...this.futures]) future.settle(closed);
    this.failAll(closed);
    this.wakeUp?.();
    await this.loop;
    clearTimeout(this.positionTimer);
  }

  /** Triggers a read: `newest` is committed, or (undefined) some version may be. */
  wake(newest: bigint | undefined, source: WakeSource): void {
    if (newest !== undefined) {
      if ((source === 'notify' && this.ignored.delete(newest)) || newest <= this.heard) return;
      if (this.own.length > 0 || (source === 'notify' && this.options.isWriting?.() === true)) {
        this.hold(newest);
        return;
      }
      this.heard = newest;
    }
    this.due ??= source;
    this.wakeUp?.();
  }

  /**
   * Reports that a batch of this process has finished, and what it wrote, if anything. A batch without subscriptions in
   * this process triggers no read, and neither does its notification: a single writer would pay for the read with a
   * round trip per write. The poll moves the position forward.
   */
  batchEnded(written: OwnBatch | undefined): void {
    if (written?.stretch !== undefined && this.cursor !== undefined) {
      this.own.push(written);
      this.wakeUp?.();
      return;
    }
    if (written !== undefined) this.undelivered(written);
    this.releaseHeld();
  }

  private hold(newest: bigint): void {
    if (this.held.length >= MOST_HELD) this.held = [this.held.reduce(later)];
    this.held.push(newest);
  }

  /** Called when all own batches are processed: the notifications that are left come from other processes. */
  private releaseHeld(): void {
    if (this.held.length === 0) return;
    const newest = this.held.reduce(later);
    this.held = [];
    if (newest <= this.heard) return;
    this.heard = newest;
    this.due ??= 'notify';
    this.wakeUp?.();
  }

  /** Handles writes that can't be delivered from memory. */
  private undelivered({ newest, resources }: OwnBatch): void {
    const concerns = (resource: string) => this.byResource.has(resource);
    if (this.joiners.length > 0 || [...resources].some(concerns)) {
      this.wake(newest, 'local');
      return;
    }
    if (this.held.includes(newest)) {
      this.held = this.held.filter((version) => version !== newest);
      return;
    }
    if (this.ignored.size >= MOST_IGNORED) this.ignored.clear();
    this.ignored.add(newest);
  }

  /** Delivers own batches that follow the cursor without a gap. */
  private deliverOwn(): void {
    const before = this.cursor;
    for (const batch of this.own.splice(0)) {
      const { newest, stretch } = batch;
      const cursor = this.cursor;
      if (cursor === undefined || newest <= cursor) continue;
      const isWithheld = stretch?.withheld?.some((resource) => this.byResource.has(resource)) === true;
      if (stretch === undefined || isWithheld || !this.follows(stretch, cursor)) {
        this.undelivered(batch);
        continue;
      }
      // A read of the log may already have delivered the first of these changes.
      const isNew = ({ resourceVersion }: Change) => resourceVersion > cursor;
      const changes = stretch.after < cursor ? stretch.changes.filter(isNew) : stretch.changes;
      try {
        this.deliver(changes, cursor, newest);
      } catch (error) {
        this.loseOrder(error);
        return;
      }
      this.heard = later(newest, this.heard);
    }
    this.releaseHeld();
    if (this.cursor === undefined || this.cursor === before) return;
    this.lookedAt = this.now();
    this.options.onPosition?.(this.cursor);
    this.advanceAll(this.cursor);
  }

  /** See `Storage.watch`. A version that does not exist yet is waited for, then refused with `TooLargeVersion`. */
  async subscribe(scope: WatchScope, from: bigint): Promise<ChangeSubscription> {
    if (this.stopped) throw new StorageError('Closed', 'storage is shutting down');
    const subscription = await new Promise<Subscription>((resolve, reject) => {
      this.joiners.push({ scope, from, resolve, reject });
      this.wakeUp?.();
    });
    try {
      await subscription.begin();
      if (from > subscription.joined) await this.future(from);
      return subscription;
    } catch (error) {
      subscription.close();
      throw error;
    }
  }

  private async run(): Promise<void> {
    while (!this.stopped) {
      if (this.joiners.length > 0) await this.admit();
      if (this.stopped) return;
      if (this.own.length > 0) this.deliverOwn();
      const cursor = this.cursor;
      if (cursor === undefined || this.byResource.size === 0) {
        this.cursor = undefined;
        if (this.joiners.length === 0) await this.sleep(undefined);
        continue;
      }
      const untilPoll = this.untilPoll();
      const source = this.due ?? (untilPoll !== undefined && untilPoll <= 0 ? 'poll' : undefined);
      if (source === undefined) {
        if (this.joiners.length === 0 && this.own.length === 0) await this.sleep(untilPoll);
        continue;
      }
      this.due = undefined;
      await this.round(cursor, source);
    }
  }

  /** Whether no other process wrote between the cursor and these changes. */
  follows(stretch: { readonly after: bigint }, cursor: bigint): boolean {
    return stretch.after <= cursor;
  }

  /** Milliseconds until the next poll is due; undefined if there is none. */
  untilPoll(): number | undefined {
    return this.lookedAt + this.options.pollMs - this.now();
  }

  private async admit(): Promise<void> {
    let cursor: bigint;
    try {
      cursor = this.cursor ?? (await this.log.head());
    } catch (error) {
      for (const joiner of this.joiners.splice(0)) joiner.reject(error);
      return;
    }
    this.cursor = cursor;
    const { log, limits, backlog } = this;
    const source = { log, limits, backlog, onEnd: (ended: Subscription) => this.leave(ended) };
    for (const { scope, from, resolve } of this.joiners.splice(0)) {
      const subscription = new Subscription(scope, from, cursor, source);
      const peers = this.byResource.get(scope.resource);
      if (peers === undefined) {
        this.byResource.set(scope.resource, new Set([subscription]));
        this.options.onFollowed?.(scope.resource, true);
      } else peers.add(subscription);
      // Writes made while there were no subscriptions may follow the cursor.
      this.due ??= 'local';
      resolve(subscription);
    }
  }

  private async round(cursor: bigint, source: WakeSource): Promise<void> {
    try {
      const stretch = await this.log.readResources(cursor, [...this.byResource.keys()]);
      if (stretch.head < cursor) {
        // The database lost changes that had been delivered: no subscription can continue from here.
        this.reset(new StorageError('Expired', `the newest version went back from ${cursor} to ${stretch.head}`));
        return;
      }
      this.options.observer.logRead(stretch.changes.length, source);
      this.deliver(stretch.changes, cursor, stretch.position);
      this.heard = stretch.head;
      this.lookedAt = this.now();
      if (stretch.more) this.due ??= source;
      this.options.onPosition?.(stretch.position);
      this.advanceAll(stretch.position);
    } catch (error) {
      if (error instanceof StorageError && error.code === 'Expired') {
        this.reset(error);
        return;
      }
      if (error instanceof InvariantError) {
        this.loseOrder(error);
        return;
      }
      if (this.stopped) return;
      this.options.observer.backgroundError('change feed', error);
      await this.sleep(RETRY_MS);
      this.due ??= source;
    }
  }

  /**
   * Offers the changes after the cursor to the matching subscriptions, and moves the cursor.
   *
   * @throws InvariantError before anything is offered, when the changes are not in order
   */
  private deliver(changes: readonly Change[], cursor: bigint, position: bigint): void {
    checkOrder(changes, cursor, position);
    for (const change of changes) {
      for (const subscription of this.byResource.get(change.key.resource) ?? []) subscription.offer(change);
    }
    this.cursor = position;
  }

  /** A bug in this program: no subscription can rely on what it has received. */
  private loseOrder(error: unknown): void {
    this.options.observer.backgroundError('change feed', error);
    this.reset(new StorageError('Expired', 'the order of the changes was lost', { cause: error }));
  }

  private advanceAll(position: bigint): void {
    this.positionTimer ??= setTimeout(() => this.sendPositions(), POSITION_INTERVAL_MS);
    for (const subscriptions of this.byResource.values()) {
      for (const subscription of subscriptions) {
        if (!subscription.advance(position)) this.endSlow(subscription);
      }
    }
    this.backlog.relieve(
      () => false,
      (watcher) => this.endSlow(watcher as Subscription),
    );
    for (const future of this.futures) if (future.from <= position) future.settle(undefined);
  }

  private endSlow(subscription: Subscription): void {
    const { resource } = subscription.scope;
    this.options.observer.slowConsumer(resource);
    subscription.fail(new StorageError('SlowConsumer', `a watch of ${resource} fell too far behind`));
  }

  /** Waits until the cursor has reached `from`. */
  private future(from: bigint): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.cursor !== undefined && this.cursor >= from) {
        resolve();
        return;
      }
      const future: Future = {
        from,
        settle: (error) => {
          clearTimeout(timer);
          this.futures.delete(future);
          if (error === undefined) resolve();
          else reject(error);
        },
      };
      const timer = setTimeout(() => {
        const resourceVersion = this.cursor ?? 0n;
        const message = `version ${from} is too large; the newest is ${resourceVersion}`;
        future.settle(new StorageError('TooLargeVersion', message, { resourceVersion }));
      }, this.options.futureWaitMs ?? 3_000);
      this.futures.add(future);
    });
  }

  private sendPositions(): void {
    this.positionTimer = undefined;
    for (const subscriptions of this.byResource.values()) {
      for (const subscription of subscriptions) subscription.sendPosition();
    }
  }

  private leave(subscription: Subscription): void {
    const { resource } = subscription.scope;
    const peers = this.byResource.get(resource);
    peers?.delete(subscription);
    if (peers?.size === 0) {
      this.byResource.delete(resource);
      this.options.onFollowed?.(resource, false);
    }
    // Without subscriptions nothing moves the cursor. The next subscription starts at the head, not at an old place
    // with all the changes since.
    if (this.byResource.size === 0) this.cursor = undefined;
  }

  private reset(error: StorageError): void {
    this.cursor = undefined;
    this.heard = 0n;
    this.failAll(error);
    // The subscriptions that wait for a future version have failed as well.
    for (const future of [...this.futures]) future.settle(error);
  }

  private failAll(error: StorageError): void {
    for (const subscriptions of [...this.byResource.values()]) {
      for (const subscription of [...subscriptions]) subscription.fail(error);
    }
  }

  /** Sleeps until woken, at most `ms`; a sleep that runs its full time is a poll. */
  private sleep(ms: number | undefined): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.wakeUp = undefined;
        resolve();
      };
      const timer =
        ms === undefined
          ? undefined
          : setTimeout(() => {
              this.due ??= 'poll';
              done();
            }, ms);
      this.wakeUp = done;
    });
  }
}

/** @throws InvariantError unless versions rise from change to change, from after the cursor up to the position. */
function checkOrder(changes: readonly Change[], cursor: bigint, position: bigint): void {
  let last = cursor;
  for (const { resourceVersion } of changes) {
    invariant(resourceVersion > last, 'changes come in the order of their versions', resourceVersion, last);
    last = resourceVersion;
  }
  invariant(last <= position, 'a position covers the changes before it', last, position);
}

function later(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
