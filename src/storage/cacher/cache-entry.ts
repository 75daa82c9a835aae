import type { AttributeSource, ObjectAttributes } from '../selection-predicate.js';
import type { StorageKey, StoredObject } from '../storage.interface.js';

/**
 * Bytes of an entry besides its text: objects, key strings, its place in the order. Measured by bench/watch-cache.ts.
 */
const OVERHEAD_BYTES = 700;

/** One state of an object in a cache. Never changed, so lists and history can hold it by reference. */
export class CacheEntry {
  readonly object: StoredObject;
  /** Estimated memory. */
  readonly bytes: number;
  private knownAttributes: ObjectAttributes | undefined;

  constructor(object: StoredObject) {
    this.object = object;
    this.bytes = OVERHEAD_BYTES + textBytes(object.json);
    this.knownAttributes = undefined;
  }

  get key(): StorageKey {
    return this.object.key;
  }

  /** The attributes that selection needs: extracted on first use, then kept. */
  attributes(source: AttributeSource): ObjectAttributes {
    let known = this.knownAttributes;
    if (known === undefined || known.source !== source) {
      known = source.extract(this.object.json);
      this.knownAttributes = known;
    }
    return known;
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is what fits one byte.
const NOT_ONE_BYTE = /[^\u0000-\u00ff]/;

/** The engine keeps a string in one byte per character when every character fits, otherwise in two. */
function textBytes(text: string): number {
  return NOT_ONE_BYTE.test(text) ? text.length * 2 : text.length;
}
