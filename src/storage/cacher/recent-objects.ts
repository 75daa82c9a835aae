import { LinkedItems, type Place } from '../../base/machinery/linked-items.js';
import type { StoredObject } from '../storage.interface.js';
import type { StorageKey } from '../storage-key.js';

/** Limits of what is remembered. */
export interface RecentLimits {
  /** Length of all texts together, in UTF-16 units. */
  readonly characters: number;
  /** Objects with longer texts are not remembered, in UTF-16 units. */
  readonly objectCharacters: number;
  /** Age at which an object is forgotten, in milliseconds: another process has too often changed older ones. */
  readonly ageMs: number;
}

const defaultRecentLimits: RecentLimits = {
  // The next request of the same client usually follows soon. Objects that live longer cost the garbage collector more
  // than a read costs.
  characters: 512 * 1024,
  objectCharacters: 64 * 1024,
  ageMs: 5_000,
};

interface Entry {
  readonly object: StoredObject;
  readonly seenAt: number;
  readonly slot: number;
}

/** Far more than the objects of usual length that are remembered at any one time. */
const slotCount = 2048;

/**
 * Objects that this process has just read or written. A client that changes an object has mostly read or written it a
 * moment before, so a remembered object saves the read of the update. The copy is only good for a first try: another
 * process may have changed the object since. The update notices this when its write is refused.
 */
export class RecentObjects {
  /** Keyed by the hash of the object's key: of two objects with the same hash, the one seen last is remembered. */
  private readonly slots: (Place<Entry> | undefined)[] = new Array(slotCount).fill(undefined);
  /** The objects seen last are at the end. */
  private readonly entries = new LinkedItems<Entry>();
  private readonly limits: RecentLimits;
  private readonly now: () => number;
  private heldCharacters = 0;

  /** `now` is in milliseconds from some fixed point and never goes back. */
  constructor(now: () => number, limits: RecentLimits = defaultRecentLimits) {
    this.now = now;
    this.limits = limits;
  }

  /** Characters of all texts that are remembered. */
  get characters(): number {
    return this.heldCharacters;
  }

  /** The object as last seen, if that was a short time ago. */
  get(key: StorageKey): StoredObject | undefined {
    const entry = this.slots[slotOf(key)]?.item;
    if (entry === undefined || !isSame(entry.object.key, key)) return undefined;
    return this.now() - entry.seenAt > this.limits.ageMs ? undefined : entry.object;
  }

  /** Remembers an object unless a newer state of it is known. */
  note(object: StoredObject): void {
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
    while (this.heldCharacters > this.limits.characters) this.remove(this.entries.first as Place<Entry>);
  }

  /** Forgets an object that is gone. */
  forget(key: StorageKey): void {
    const known = this.slots[slotOf(key)];
    if (known?.item !== undefined && isSame(known.item.object.key, key)) this.remove(known);
  }

  /** Forgets everything. */
  clear(): void {
    for (let first = this.entries.first; first !== undefined; first = this.entries.first) this.remove(first);
  }

  private remove(place: Place<Entry>): void {
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
