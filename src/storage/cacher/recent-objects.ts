import type { StorageKey, StoredObject } from '../storage.interface.js';

/** The most that is remembered. */
export interface RecentLimits {
  /** For all texts together, in UTF-16 units. */
  readonly characters: number;
  /** Objects with longer texts are not remembered, in UTF-16 units. */
  readonly objectCharacters: number;
  /** Objects seen longer ago have too often been changed by another process, in milliseconds. */
  readonly ageMs: number;
}

const defaultRecentLimits: RecentLimits = {
  // Mostly the next request of the same client follows. Objects that live longer cost the garbage collector more than a
  // read costs.
  characters: 512 * 1024,
  objectCharacters: 64 * 1024,
  ageMs: 5_000,
};

interface Entry {
  readonly object: StoredObject;
  readonly seenAt: number;
}

/**
 * Objects that this process has just read or written. A client that changes an object has mostly read or written it a
 * moment before, so a remembered object saves the update its read. It is only good for a first try: another process may
 * have changed the object since. The update finds that out when its write is refused.
 */
export class RecentObjects {
  /** The objects seen last are at the end. */
  private readonly entries = new Map<string, Entry>();
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
    const entry = this.entries.get(idOf(key));
    return entry === undefined || this.now() - entry.seenAt > this.limits.ageMs ? undefined : entry.object;
  }

  /** Remembers an object unless a newer state of it is known. */
  note(object: StoredObject): void {
    const id = idOf(object.key);
    const known = this.entries.get(id);
    if (known !== undefined) {
      if (known.object.resourceVersion > object.resourceVersion) return;
      this.remove(id, known);
    }
    if (object.json.length > this.limits.objectCharacters) return;
    this.entries.set(id, { object, seenAt: this.now() });
    this.heldCharacters += object.json.length;
    for (const [oldest, entry] of this.entries) {
      if (this.heldCharacters <= this.limits.characters) break;
      this.remove(oldest, entry);
    }
  }

  /** Forgets an object that is gone. */
  forget(key: StorageKey): void {
    const id = idOf(key);
    const known = this.entries.get(id);
    if (known !== undefined) this.remove(id, known);
  }

  /** Forgets everything. */
  clear(): void {
    this.entries.clear();
    this.heldCharacters = 0;
  }

  private remove(id: string, { object }: Entry): void {
    this.entries.delete(id);
    this.heldCharacters -= object.json.length;
  }
}

/** No part of a key has a null character: the database could not store it. */
function idOf({ resource, namespace, name }: StorageKey): string {
  return `${resource}\0${namespace}\0${name}`;
}
