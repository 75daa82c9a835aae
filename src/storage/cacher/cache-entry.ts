import type { AttributeSource, ObjectAttributes } from '../selection-predicate.js';
import type { StoredObject } from '../storage.interface.js';
import type { StorageKey } from '../storage-key.js';
import type { EarlierState } from './earlier-state.js';

/**
 * Memory of an entry besides its text, in bytes: its fields, name and version, its slots in the order and in indexes,
 * and what the engine keeps free. Measured by bench/watch-cache.ts.
 */
const OVERHEAD_BYTES = 300;

/** Data that the objects of a namespace share. */
export type Shelf = Pick<StorageKey, 'resource' | 'namespace'>;

/**
 * One state of an object in a cache. What it shows never changes, so lists and history can hold it by reference. There
 * may be a million of them, so it keeps nothing that can be derived from its text.
 */
export class CacheEntry implements StoredObject, EarlierState {
  readonly name: string;
  readonly resourceVersion: bigint;
  readonly json: string;
  /** Estimated memory in bytes. */
  readonly bytes: number;
  /** Kept by the {@link EventWindow} of the cache. */
  previous: EarlierState | undefined;
  private readonly shelf: Shelf;
  /** Where the uid is in the text: the position, with the length in the lowest byte. */
  private readonly uidPlace: number | string;
  private knownAttributes: ObjectAttributes | undefined;

  /** The caller passes the `shelf` that all objects of the namespace share; the entry keeps it. */
  constructor(shelf: Shelf, { key, uid, resourceVersion, json }: StoredObject) {
    this.shelf = shelf;
    this.name = key.name;
    this.resourceVersion = resourceVersion;
    this.json = json;
    this.bytes = OVERHEAD_BYTES + textBytes(json);
    this.previous = undefined;
    const at = json.indexOf(uid);
    this.uidPlace = at < 0 || at > FARTHEST || uid.length > LONGEST ? uid : (at << 8) | uid.length;
    this.knownAttributes = undefined;
  }

  get key(): StorageKey {
    const { resource, namespace } = this.shelf;
    return { resource, namespace, name: this.name };
  }

  get namespace(): string {
    return this.shelf.namespace;
  }

  get uid(): string {
    const place = this.uidPlace;
    if (typeof place === 'string') return place;
    const at = place >> 8;
    return this.json.slice(at, at + (place & LONGEST));
  }

  /** The attributes that selection needs: extracted on first use, then kept. */
  attributes(source: AttributeSource): ObjectAttributes {
    let known = this.knownAttributes;
    if (known === undefined || known.source !== source) {
      known = source.extract(this.json);
      this.knownAttributes = known;
    }
    return known;
  }
}

const LONGEST = 0xff;
const FARTHEST = 0x3fffff;

// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is what fits one byte.
const NOT_ONE_BYTE = /[^\u0000-\u00ff]/;

/** The engine stores a string with one byte per character when every character fits, otherwise with two. */
function textBytes(text: string): number {
  return NOT_ONE_BYTE.test(text) ? text.length * 2 : text.length;
}
