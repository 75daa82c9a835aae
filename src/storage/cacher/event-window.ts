import type { Change, ListPosition } from '../storage.interface.js';
import { CacheEntry } from './cache-entry.js';
import { concerns, concernsAfter } from './concerns.js';
import type { EarlierState } from './earlier-state.js';
import { type KeyFilter, OrderedEntries } from './ordered-entries.js';
import { Tombstone } from './tombstone.js';

/** How much of the recent past a cache keeps. */
export interface WindowLimits {
  readonly changes: number;
  /** The limit for states that only the history references, in bytes. */
  readonly bytes: number;
  /** The number of newest changes that are kept however large they are. Default: none. */
  readonly least?: number;
}

interface Item {
  readonly change: Change;
  readonly before: CacheEntry | undefined;
  /** The state that the change led to. */
  readonly state: CacheEntry | Tombstone;
  /** By how much the change made the number of objects grow: -1, 0 or 1. */
  readonly growth: number;
}

/**
 * The newest changes of a resource in order, limited in number and in the memory that they keep alive. All changes
 * after `oldest` are present, and each state that they led to has the one before it: watches resume from here, and a
 * list of any version in the window finds each of its objects by going back from the present state of that object.
 */
export class EventWindow {
  private readonly limits: WindowLimits;
  private items: Item[] = [];
  /** Objects that changes in the window have deleted, and that nobody has created again. */
  private readonly gone = new OrderedEntries<Tombstone>();
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

  /** Must be called before the first change. */
  begin(position: bigint): void {
    this.oldestVersion = position;
  }

  /** Adds the next change, the entry that it replaced or removed, and the one that it made. */
  add(change: Change, before: CacheEntry | undefined, after: CacheEntry | undefined): void {
    const state = after ?? new Tombstone(change.key, change.resourceVersion);
    const item = { change, before, state, growth: (after === undefined ? 0 : 1) - (before === undefined ? 0 : 1) };
    this.link(item);
    this.items.push(item);
    this.heldBytes += bytesOf(item);
    const { bytes, least = 0 } = this.limits;
    const changes = Math.max(this.limits.changes, least);
    while (this.length > changes || (this.heldBytes > bytes && this.length > least)) this.dropFirst();
  }

  /** Changes of the scope with a version above `from`, which must be at least `oldest`. */
  changesAfter(from: bigint, scope: KeyFilter): Change[] {
    const changes: Change[] = [];
    for (let i = this.indexAfter(from); i < this.items.length; i++) {
      const { change } = this.items[i] as Item;
      if (concerns(scope, change.key)) changes.push(change);
    }
    return changes;
  }

  /** The first deleted objects of the filter after `after`, in order, whenever they were deleted. */
  deleted(filter: KeyFilter, after: ListPosition | undefined, most: number): Tombstone[] {
    const found: Tombstone[] = [];
    this.gone.visit(filter, after, (tombstone) => found.push(tombstone) < most);
    return found;
  }

  /** How many more objects of the filter after `after` there are now than at the version `at`. */
  growthSince(at: bigint, filter: KeyFilter, after: ListPosition | undefined): number {
    let sum = 0;
    for (let i = this.indexAfter(at); i < this.items.length; i++) {
      const { growth, state } = this.items[i] as Item;
      if (growth !== 0 && concernsAfter(filter, after, state)) sum += growth;
    }
    return sum;
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

  /** Gives a state the one before it. */
  private link({ before, state, change: { key } }: Item): void {
    if (state instanceof Tombstone) {
      state.previous = before;
      this.gone.set(state);
    } else state.previous = before ?? this.gone.delete(key.namespace, key.name);
  }

  private unlink({ state }: Item): void {
    state.previous = undefined;
    const { namespace, name } = state;
    if (state instanceof Tombstone && this.gone.get(namespace, name) === state) this.gone.delete(namespace, name);
  }

  private dropFirst(): void {
    const item = this.items[this.first] as Item;
    this.unlink(item);
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
  state: Object.freeze(new Tombstone({ namespace: '', name: '' }, 0n)),
  growth: 0,
});

/**
 * Memory of the states that only this item keeps alive: the one before the change, and the last one of a deleted
 * object.
 */
function bytesOf({ change, before }: Item): number {
  const own = change.type === 'delete' ? TOMBSTONE_BYTES + change.json.length : 0;
  return ITEM_BYTES + own + (before?.bytes ?? 0);
}

const ITEM_BYTES = 200;
const TOMBSTONE_BYTES = 80;

/** An object at an earlier version, found by going back from a later state; undefined if it did not exist then. */
export function entryAt(later: EarlierState, at: bigint): CacheEntry | undefined {
  let state: EarlierState | undefined = later;
  while (state !== undefined && state.resourceVersion > at) state = state.previous;
  return state instanceof CacheEntry ? state : undefined;
}
