import { LinkedItems, type ListPlace } from '../../base/machinery/linked-items.js';
import type { StoredObject } from '../storage.interface.js';
import type { StorageKey } from '../storage-key.js';

/** Limits of the cached objects. */
export interface RecentLimits {
  /** Length of all cached texts together, in UTF-16 units. */
  readonly characters: number;
  /** Objects with longer texts, in UTF-16 units, are not cached. */
  readonly objectCharacters: number;
  /** The age at which an object is dropped, in milliseconds: another process has too often changed older ones. */
  readonly ageMs: number;
}

const defaultRecentLimits: RecentLimits = {
  // Small limits suffice, since the next request of the same client usually follows soon. Objects that live longer cost
  // the garbage collector more than a read costs.
  characters: 512 * 1024,
  objectCharacters: 64 * 1024,
  ageMs: 5_000,
};

interface Entry {
  readonly object: StoredObject;
  readonly seenAt: number;
  readonly slot: number;
}

/** Far more slots than the number of objects of usual size that are cached at any one time. */
const slotCount = 2048;

/**
 * A small cache of objects that this process has just read or written. A client that changes an object has mostly read
 * or written it a moment before, so a cached copy saves the read of the update. The copy is only good for a first
 * attempt, since another process may have changed the object: the update notices this when its write is refused.
 */
export class RecentObjects {
  /** Slots by the hash of the object's key: of two objects with the same hash, only the one seen last is cached. */
  private readonly slots: (ListPlace<Entry> | undefined)[] = new Array(slotCount).fill(undefined);
  /** The most recently seen objects are at the end. */
  private readonly entries = new LinkedItems<Entry>();
  private readonly limits: RecentLimits;
  private readonly now: () => number;
  private heldCharacters = 0;

  /** `now` is in milliseconds from some fixed point and never goes back. */
  constructor(now: () => number, limits: RecentLimits = defaultRecentLimits) {
    this.now = now;
    this.limits = limits;
  }

  /** Length of all cached texts, in UTF-16 units. */
  get characters(): number {
    return this.heldCharacters;
  }

  /** The object as last seen, unless that was too long ago. */
  get(key: StorageKey): StoredObject | undefined {
    const entry = this.slots[slotOf(key)]?.item;
    if (entry === undefined || !isSame(entry.object.key, key)) return undefined;
    return this.now() - entry.seenAt > this.limits.ageMs ? undefined : entry.object;
  }

  /** Caches an object unless a newer state of it is known. */
  remember(object: StoredObject): void {
    const { key } = object;
    const slot = slotOf(key);
    const known = this.slots[slot];
    if (known?.item !== undefined) {
      const { object: seen } = known.item;
      if (isSame(seen.key, key) && seen.resourceVersion > object.resourceVersion) return;
      this.remove(known);
    }
    if (object.json.length > this.limits.objectCharacters) return;
    this.slots[slot] = this.entries.add({ object, seenAt: this.now(), slot });
    this.heldCharacters += object.json.length;
    while (this.heldCharacters > this.limits.characters) this.remove(this.entries.first as ListPlace<Entry>);
  }

  /** Drops an object that has been deleted. */
  forget(key: StorageKey): void {
    const known = this.slots[slotOf(key)];
    if (known?.item !== undefined && isSame(known.item.object.key, key)) this.remove(known);
  }

  /** Drops all cached objects. */
  clear(): void {
    for (let first = this.entries.first; first !== undefined; first = this.entries.first) this.remove(first);
  }

  private remove(place: ListPlace<Entry>): void {
    const { object, slot } = place.item as Entry;
    this.entries.remove(place);
    this.slots[slot] = undefined;
    this.heldCharacters -= object.json.length;
  }
}

function isSame(a: StorageKey, b: StorageKey): boolean {
  return a.name === b.name && a.namespace === b.namespace && a.resource === b.resource;
}

/** FNV-1a of the parts that identify an object. */
function slotOf({ resource, namespace, name }: StorageKey): number {
  return hashed(hashed(hashed(0x811c9dc5, resource), namespace), name) & (slotCount - 1);
}

function hashed(seed: number, text: string): number {
  let hash = seed;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash;
}
