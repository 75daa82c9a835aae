import type { Change } from '../storage.interface.js';
import type { StorageKey } from '../storage-key.js';
import type { CacheEntry } from './cache-entry.js';

/** How much of the recent past a cache keeps. */
export interface WindowLimits {
  readonly changes: number;
  /** The limit for states that only the history references, in bytes. */
  readonly bytes: number;
  /** The number of newest changes that are kept however large they are. Default: none. */
  readonly least?: number;
}

/** An object at an earlier version; without `entry`, the object did not exist then. */
export interface PastState {
  readonly key: StorageKey;
  readonly entry: CacheEntry | undefined;
}

interface Item {
  readonly change: Change;
  readonly before: CacheEntry | undefined;
}

/**
 * The newest changes of a resource in order, limited in number and in the memory that they keep alive. All changes
 * after `oldest` are present: watches resume from here, and undoing the changes gives the objects at any version in the
 * window.
 */
export class EventWindow {
  private readonly limits: WindowLimits;
  private items: Item[] = [];
  /** Items before this index were dropped; the array is cut once they are the majority. */
  private first = 0;
  private heldBytes = 0;
  private oldestVersion = 0n;

  constructor(limits: WindowLimits) {
    this.limits = limits;
  }

  get oldest(): bigint {
    return this.oldestVersion;
  }

  get bytes(): number {
    return this.heldBytes;
  }

  begin(position: bigint): void {
    this.items = [];
    this.first = 0;
    this.heldBytes = 0;
    this.oldestVersion = position;
  }

  /** Adds the next change, and the entry that it replaced or removed. */
  add(change: Change, before: CacheEntry | undefined): void {
    const item = { change, before };
    this.items.push(item);
    this.heldBytes += bytesOf(item);
    const { bytes, least = 0 } = this.limits;
    const changes = Math.max(this.limits.changes, least);
    while (this.length > changes || (this.heldBytes > bytes && this.length > least)) this.dropFirst();
  }

  /** Changes with a version above `from`, which must be at least `oldest`. */
  changesAfter(from: bigint): Change[] {
    return this.items.slice(this.indexAfter(from)).map(({ change }) => change);
  }

  /** The keys that changed after `at`, with their objects at that version. */
  statesAt(at: bigint): ReadonlyMap<string, PastState> {
    const states = new Map<string, PastState>();
    for (let i = this.indexAfter(at); i < this.items.length; i++) {
      const { change, before } = this.items[i] as Item;
      const { namespace, name } = change.key;
      const id = `${namespace}\u0000${name}`;
      if (!states.has(id)) states.set(id, { key: change.key, entry: before });
    }
    return states;
  }

  private get length(): number {
    return this.items.length - this.first;
  }

  private indexAfter(version: bigint): number {
    let low = this.first;
    let high = this.items.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.items[middle] as Item).change.resourceVersion <= version) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private dropFirst(): void {
    const item = this.items[this.first] as Item;
    this.items[this.first] = RELEASED;
    this.first += 1;
    this.heldBytes -= bytesOf(item);
    this.oldestVersion = item.change.resourceVersion;
    if (this.first > 1024 && this.first * 2 > this.items.length) {
      this.items = this.items.slice(this.first);
      this.first = 0;
    }
  }
}

/** Placeholder for dropped items, so that they can be collected. */
const RELEASED: Item = Object.freeze({
  change: Object.freeze({
    type: 'delete',
    key: Object.freeze({ resource: '', namespace: '', name: '' }),
    uid: '',
    resourceVersion: 0n,
    json: '',
    previousJson: undefined,
  } as const),
  before: undefined,
});

/**
 * Memory of the states that only this item keeps alive: the one before the change, and the last one of a deleted
 * object.
 */
function bytesOf({ change, before }: Item): number {
  const own = change.type === 'delete' ? change.json.length : 0;
  return ITEM_BYTES + own + (before?.bytes ?? 0);
}

const ITEM_BYTES = 200;
