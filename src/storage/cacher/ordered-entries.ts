import { compareBytewise } from '../../base/machinery/compare-bytewise.js';
import type { ListPosition } from '../storage.interface.js';

/** Anything with a key that can be ordered. */
export type Keyed = ListPosition;

/** The keys that a scan covers; see `Scope`. */
export interface KeyFilter {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

/**
 * The most entries of a chunk. A full chunk is split, so adding in the middle of very many entries moves few pointers.
 */
const MOST_IN_CHUNK = 512;
/** A chunk with fewer entries is joined with its neighbour if both fit in one. */
const FEW_IN_CHUNK = 64;

interface Shelf<T> {
  readonly namespace: string;
  /** Chunks in order; none is empty. */
  readonly chunks: T[][];
  size: number;
}

/** A position in a shelf: index of the chunk, and index in it. */
interface Place {
  readonly chunk: number;
  readonly index: number;
}

/**
 * Entries in (namespace, name) byte order, one per key: a sorted array of namespaces, each with its entries in sorted
 * chunks. A lookup is two binary searches. Adding or removing in the middle moves pointers of one chunk only (see
 * docs/decisions/0004-watch-cache.md).
 */
export class OrderedEntries<T extends Keyed> {
  private readonly byNamespace = new Map<string, Shelf<T>>();
  private readonly shelves: Shelf<T>[] = [];
  private total = 0;

  get size(): number {
    return this.total;
  }

  get(namespace: string, name: string): T | undefined {
    const shelf = this.byNamespace.get(namespace);
    if (shelf === undefined) return undefined;
    const found = entryAt(shelf, lowerBound(shelf, name));
    return found?.name === name ? found : undefined;
  }

  /** Stores an entry under its key and returns the entry that it replaces. */
  set(entry: T): T | undefined {
    const { namespace, name } = entry;
    const shelf = this.byNamespace.get(namespace) ?? this.addShelf(namespace);
    const { chunks } = shelf;
    const last = chunks.at(-1);
    if (last === undefined || compareBytewise((last.at(-1) as T).name, name) < 0) {
      if (last === undefined || last.length >= MOST_IN_CHUNK) chunks.push([entry]);
      else last.push(entry);
    } else {
      const place = lowerBound(shelf, name);
      const chunk = chunks[place.chunk] as T[];
      const found = chunk[place.index] as T;
      if (found.name === name) {
        chunk[place.index] = entry;
        return found;
      }
      chunk.splice(place.index, 0, entry);
      if (chunk.length > MOST_IN_CHUNK) chunks.splice(place.chunk + 1, 0, chunk.splice(MOST_IN_CHUNK / 2));
    }
    shelf.size += 1;
    this.total += 1;
    return undefined;
  }

  /** Removes and returns the entry under the key. */
  delete(namespace: string, name: string): T | undefined {
    const shelf = this.byNamespace.get(namespace);
    if (shelf === undefined) return undefined;
    const place = lowerBound(shelf, name);
    const found = entryAt(shelf, place);
    if (found?.name !== name) return undefined;
    const chunk = shelf.chunks[place.chunk] as T[];
    chunk.splice(place.index, 1);
    if (chunk.length < FEW_IN_CHUNK) shrink(shelf.chunks, place.chunk);
    shelf.size -= 1;
    this.total -= 1;
    if (shelf.size === 0) {
      this.byNamespace.delete(namespace);
      this.shelves.splice(shelfBound(this.shelves, namespace), 1);
    }
    return found;
  }

  /** Visits the entries of the filter after `after`, in order, until `visit` returns false. */
  visit(filter: KeyFilter, after: ListPosition | undefined, visit: (entry: T) => boolean): void {
    const { namespace, name } = filter;
    if (namespace !== undefined) {
      const shelf = this.byNamespace.get(namespace);
      if (shelf !== undefined) visitShelf(shelf, name, after, visit);
      return;
    }
    const first = after === undefined ? 0 : shelfBound(this.shelves, after.namespace);
    for (let i = first; i < this.shelves.length; i++) {
      if (!visitShelf(this.shelves[i] as Shelf<T>, name, after, visit)) return;
    }
  }

  /** The number of entries of the filter after `after`, counted without visiting them. */
  count(filter: KeyFilter, after: ListPosition | undefined): number {
    const { namespace, name } = filter;
    if (namespace === undefined && name === undefined && after === undefined) return this.total;
    if (namespace !== undefined) {
      const shelf = this.byNamespace.get(namespace);
      return shelf === undefined ? 0 : countShelf(shelf, name, after);
    }
    let count = 0;
    const first = after === undefined ? 0 : shelfBound(this.shelves, after.namespace);
    for (let i = first; i < this.shelves.length; i++) count += countShelf(this.shelves[i] as Shelf<T>, name, after);
    return count;
  }

  private addShelf(namespace: string): Shelf<T> {
    const shelf: Shelf<T> = { namespace, chunks: [], size: 0 };
    this.byNamespace.set(namespace, shelf);
    this.shelves.splice(shelfBound(this.shelves, namespace), 0, shelf);
    return shelf;
  }
}

function entryAt<T>({ chunks }: Shelf<T>, { chunk, index }: Place): T | undefined {
  return chunks[chunk]?.[index];
}

/** Removes an empty chunk, or joins a small one with a neighbour. */
function shrink<T>(chunks: T[][], at: number): void {
  const chunk = chunks[at] as T[];
  if (chunk.length === 0) {
    chunks.splice(at, 1);
    return;
  }
  const left = at > 0 ? at - 1 : at;
  const [first, second] = [chunks[left] as T[], chunks[left + 1]];
  if (second === undefined || first.length + second.length > MOST_IN_CHUNK / 2) return;
  for (const entry of second) first.push(entry);
  chunks.splice(left + 1, 1);
}

/** The place of the first entry in the shelf that lies after `after`. */
function startIn<T extends Keyed>(shelf: Shelf<T>, after: ListPosition | undefined): Place {
  if (after === undefined) return start;
  const order = compareBytewise(shelf.namespace, after.namespace);
  if (order !== 0) return order < 0 ? { chunk: shelf.chunks.length, index: 0 } : start;
  const place = lowerBound(shelf, after.name);
  return entryAt(shelf, place)?.name === after.name ? { chunk: place.chunk, index: place.index + 1 } : place;
}

const start: Place = Object.freeze({ chunk: 0, index: 0 });

function visitShelf<T extends Keyed>(
  shelf: Shelf<T>,
  name: string | undefined,
  after: ListPosition | undefined,
  visit: (entry: T) => boolean,
): boolean {
  const { chunks } = shelf;
  const from = startIn(shelf, after);
  if (name !== undefined) {
    const found = named(shelf, name, from);
    return found === undefined || visit(found);
  }
  let { index } = from;
  for (let c = from.chunk; c < chunks.length; c++) {
    const chunk = chunks[c] as T[];
    for (; index < chunk.length; index++) if (!visit(chunk[index] as T)) return false;
    index = 0;
  }
  return true;
}

/** The entry of that name, unless it comes before `from`. */
function named<T extends Keyed>(shelf: Shelf<T>, name: string, from: Place): T | undefined {
  const place = lowerBound(shelf, name);
  if (place.chunk < from.chunk || (place.chunk === from.chunk && place.index < from.index)) return undefined;
  const found = entryAt(shelf, place);
  return found?.name === name ? found : undefined;
}

function countShelf<T extends Keyed>(
  shelf: Shelf<T>,
  name: string | undefined,
  after: ListPosition | undefined,
): number {
  const from = startIn(shelf, after);
  if (name !== undefined) return named(shelf, name, from) === undefined ? 0 : 1;
  if (from === start) return shelf.size;
  let count = -from.index;
  for (let c = from.chunk; c < shelf.chunks.length; c++) count += (shelf.chunks[c] as T[]).length;
  return Math.max(0, count);
}

/** The place of the first entry whose name is not less than `name`; after all chunks when there is none. */
function lowerBound<T extends Keyed>({ chunks }: Shelf<T>, name: string): Place {
  let low = 0;
  let high = chunks.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const chunk = chunks[middle] as T[];
    if (compareBytewise((chunk[chunk.length - 1] as T).name, name) < 0) low = middle + 1;
    else high = middle;
  }
  const entries = chunks[low];
  if (entries === undefined) return { chunk: low, index: 0 };
  let first = 0;
  let last = entries.length;
  while (first < last) {
    const middle = (first + last) >>> 1;
    if (compareBytewise((entries[middle] as T).name, name) < 0) first = middle + 1;
    else last = middle;
  }
  return { chunk: low, index: first };
}

function shelfBound<T>(shelves: readonly Shelf<T>[], namespace: string): number {
  let low = 0;
  let high = shelves.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareBytewise((shelves[middle] as Shelf<T>).namespace, namespace) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
