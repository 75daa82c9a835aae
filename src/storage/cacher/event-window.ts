import type { Change } from '../storage.interface.js';
import type { StorageKey } from '../storage-key.js';
import type { CacheEntry } from './cache-entry.js';

/** How much of the recent past a cache keeps. */
export interface WindowLimits {
  readonly changes: number;
  /** Bytes of states that only the history needs. */
  readonly bytes: number;
  /** This many of the newest changes are kept however large they are. Default: none. */
  readonly least?: number;
}

/** The object under a key at an earlier version; no entry: there was no object. */
export interface PastState {
  readonly key: StorageKey;
  readonly entry: CacheEntry | undefined;
}

interface Item {
  readonly change: Change;
  readonly before: CacheEntry | undefined;
}

/**
 * The newest changes of a resource in order, bounded by their number and by the memory they keep alive. Everything
 * after `oldest` is complete: watches resume in it, and undoing it gives the objects at any version in it.
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

  /** Changes with a version above `from`, which must not be below `oldest`. */
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

/** Replaces dropped items, so that they are not kept alive. */
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

/** The states that only this item keeps alive: the one before the change, and the last one of a deleted object. */
function bytesOf({ change, before }: Item): number {
  const own = change.type === 'delete' ? change.json.length : 0;
  return ITEM_BYTES + own + (before?.bytes ?? 0);
}

const ITEM_BYTES = 200;
