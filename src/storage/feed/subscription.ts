import type { Change, ChangeBatch, ChangeSubscription, WatchScope } from '../storage.interface.js';
import { StorageError } from '../storage-error.js';
import type { ChangeLog } from './change-log.js';
import type { LateWatcher, WatchBacklog } from './watch-backlog.js';

/** How far a subscription may fall behind before it is ended. */
export interface BufferLimits {
  readonly changes: number;
  /** The limit for the JSON of buffered changes, both states, in UTF-16 units. */
  readonly characters: number;
}

/** State that the subscriptions of a feed share. */
export interface SubscriptionSource {
  readonly log: ChangeLog;
  readonly limits: BufferLimits;
  /** Called once, when the subscription is closed or fails. */
  readonly onEnd: (subscription: Subscription) => void;
  /** The backlog that counts what the subscription has not received; default: none. */
  readonly backlog?: WatchBacklog | undefined;
}

/**
 * One consumer of the feed. First state `history`: versions in (from, joined] come from the log, page by page as the
 * consumer asks. Then `live`: the changes that the feed has delivered since it joined come from a bounded buffer. A
 * failure drops the changes that were not fetched, and the next or waiting `next()` throws it. So the changes that the
 * consumer received are in order and without a gap.
 */
export class Subscription implements ChangeSubscription, LateWatcher {
  readonly scope: WatchScope;
  /** Cursor of the feed when the subscription was registered. Later changes arrive live. */
  readonly joined: bigint;
  private readonly log: ChangeLog;
  private readonly limits: BufferLimits;
  private readonly onEnd: (subscription: Subscription) => void;
  private readonly backlog: WatchBacklog | undefined;
  private historyFrom: bigint;
  private first: ChangeBatch | undefined;
  private buffer: Change[] = [];
  private bufferCharacters = 0;
  /** How many of the buffered changes are counted in the backlog. */
  private held = 0;
  private position: bigint;
  private sentPosition: bigint;
  /** Up to this version, positions without changes are sent without delay. */
  private hurried = 0n;
  private failure: StorageError | undefined;
  private readonly failureListeners: (() => void)[] = [];
  private closed = false;
  private waiting:
    | { resolve: (batch: ChangeBatch | undefined) => void; reject: (error: StorageError) => void }
    | undefined;

  /** @param from the last version that the consumer has */
  constructor(scope: WatchScope, from: bigint, joined: bigint, { log, limits, onEnd, backlog }: SubscriptionSource) {
    this.scope = scope;
    this.log = log;
    this.limits = limits;
    this.onEnd = onEnd;
    this.backlog = backlog;
    this.historyFrom = from;
    this.joined = joined;
    this.position = from > joined ? from : joined;
    this.sentPosition = from;
  }

  /** Reads the first page of history; throws what the log throws. */
  async begin(): Promise<void> {
    if (this.historyFrom < this.joined) this.first = await this.readHistory();
  }

  async next(): Promise<ChangeBatch | undefined> {
    if (this.waiting !== undefined) throw new Error('next() is already waiting');
    if (this.closed) return undefined;
    if (this.failure !== undefined) throw this.failure;
    if (this.first !== undefined) {
      const first = this.first;
      this.first = undefined;
      return first;
    }
    if (this.historyFrom < this.joined) {
      const batch = await this.readHistory();
      return this.closed ? undefined : batch;
    }
    const batch = this.takeLive();
    if (batch !== undefined) return batch;
    return new Promise((resolve, reject) => {
      this.waiting = { resolve, reject };
    });
  }

  onFailure(listener: () => void): void {
    if (this.failure === undefined) this.failureListeners.push(listener);
    else listener();
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.drop();
    this.onEnd(this);
    this.waiting?.resolve(undefined);
    this.waiting = undefined;
  }

  /** Adds a change of the scope's resource, in order; does not wake the consumer (see `advance`). */
  offer(change: Change): void {
    if (this.closed || this.failure !== undefined) return;
    const { namespace, name } = this.scope;
    if (namespace !== undefined && change.key.namespace !== namespace) return;
    if (name !== undefined && change.key.name !== name) return;
    if (change.resourceVersion <= this.historyFrom) return;
    if (change.unreadable !== undefined) {
      this.fail(change.unreadable);
      return;
    }
    this.buffer.push(change);
    this.bufferCharacters += change.json.length + (change.previousJson?.length ?? 0);
  }

  get owner(): string | undefined {
    return this.scope.owner;
  }

  get queuedCharacters(): number {
    return this.bufferCharacters;
  }

  get quietPosition(): bigint | undefined {
    return this.waiting !== undefined && this.buffer.length === 0 ? this.position : undefined;
  }

  hasten(version: bigint): void {
    if (version > this.hurried) this.hurried = version;
    this.advance(this.position);
  }

  /** Sends the position to a consumer that does not have it yet. */
  sendPosition(): void {
    if (this.waiting === undefined) return;
    const batch = this.takeLive();
    if (batch === undefined) return;
    const { resolve } = this.waiting;
    this.waiting = undefined;
    resolve(batch);
  }

  /**
   * Everything up to `position` has been offered. Returns false when that was too much for the buffer. A waiting
   * consumer receives its changes in any case: only the remainder in the buffer counts. If there are no changes, the
   * consumer receives the position later, by {@link sendPosition}.
   */
  advance(position: bigint): boolean {
    if (this.closed || this.failure !== undefined) return true;
    if (position > this.position) this.position = position;
    if (this.buffer.length > 0 || this.sentPosition < this.hurried) this.sendPosition();
    this.holdBuffer();
    return this.buffer.length <= this.limits.changes && this.bufferCharacters <= this.limits.characters;
  }

  /** Ends the subscription with an error, which the next or waiting `next()` throws. */
  fail(error: StorageError): void {
    if (this.closed || this.failure !== undefined) return;
    this.failure = error;
    this.drop();
    this.onEnd(this);
    this.waiting?.reject(error);
    this.waiting = undefined;
    for (const listener of this.failureListeners.splice(0)) listener();
  }

  private takeLive(): ChangeBatch | undefined {
    if (this.buffer.length === 0 && this.position <= this.sentPosition) return undefined;
    const changes = this.buffer;
    this.clearBuffer();
    this.sentPosition = this.position;
    return { changes, position: this.position };
  }

  private async readHistory(): Promise<ChangeBatch> {
    const stretch = await this.log.readScope(this.historyFrom, this.joined, this.scope);
    for (const { unreadable } of stretch.changes) if (unreadable !== undefined) throw unreadable;
    this.historyFrom = stretch.more ? stretch.position : this.joined;
    this.sentPosition = this.historyFrom;
    return { changes: stretch.changes, position: this.historyFrom };
  }

  private drop(): void {
    this.first = undefined;
    this.clearBuffer();
  }

  /** Counts in the backlog only the changes that the consumer does not receive at once. */
  private holdBuffer(): void {
    if (this.backlog === undefined || this.buffer.length === this.held) return;
    this.backlog.hold(this.buffer.slice(this.held));
    this.held = this.buffer.length;
    this.backlog.add(this);
  }

  private clearBuffer(): void {
    if (this.held > 0) {
      this.backlog?.release(this.buffer.slice(0, this.held));
      this.backlog?.delete(this);
      this.held = 0;
    }
    this.buffer = [];
    this.bufferCharacters = 0;
  }
}
