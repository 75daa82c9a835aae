import type { ListPosition, StorageKey } from '../storage.interface.js';
import { compareBytewise } from './key-order.js';

/** Anything with a key. */
export interface Keyed {
  readonly key: Pick<StorageKey, 'namespace' | 'name'>;
}

/** The keys that a scan covers; see `Scope`. */
export interface KeyFilter {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

interface Shelf<T> {
  readonly namespace: string;
  readonly entries: T[];
}

/**
 * Entries in (namespace, name) byte order, one per key: a sorted array per namespace, and a sorted array of namespaces.
 * A lookup is a binary search. Adding or removing in the middle only moves pointers, which is quicker than any tree
 * even with 100,000 entries in one namespace (see docs/decisions/0004-watch-cache.md).
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
    const index = lowerBound(shelf.entries, name);
    const found = shelf.entries[index];
    return found?.key.name === name ? found : undefined;
  }

  /** Puts an entry under its key and returns the one that was there before. */
  set(entry: T): T | undefined {
    const { namespace, name } = entry.key;
    const { entries } = this.byNamespace.get(namespace) ?? this.addShelf(namespace);
    const last = entries.at(-1);
    if (last === undefined || compareBytewise(last.key.name, name) < 0) {
      entries.push(entry);
      this.total += 1;
      return undefined;
    }
    const index = lowerBound(entries, name);
    const found = entries[index];
    if (found?.key.name === name) {
      entries[index] = entry;
      return found;
    }
    entries.splice(index, 0, entry);
    this.total += 1;
    return undefined;
  }

  /** Removes and returns the entry under the key. */
  delete(namespace: string, name: string): T | undefined {
    const shelf = this.byNamespace.get(namespace);
    if (shelf === undefined) return undefined;
    const index = lowerBound(shelf.entries, name);
    const found = shelf.entries[index];
    if (found?.key.name !== name) return undefined;
    shelf.entries.splice(index, 1);
    this.total -= 1;
    if (shelf.entries.length === 0) {
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

  /** How many entries of the filter lie after `after`, without visiting them. */
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
    const shelf: Shelf<T> = { namespace, entries: [] };
    this.byNamespace.set(namespace, shelf);
    this.shelves.splice(shelfBound(this.shelves, namespace), 0, shelf);
    return shelf;
  }
}

/** Index of the first entry in the shelf that lies after `after`. */
function startIn<T extends Keyed>(shelf: Shelf<T>, after: ListPosition | undefined): number {
  if (after === undefined) return 0;
  const order = compareBytewise(shelf.namespace, after.namespace);
  if (order !== 0) return order < 0 ? shelf.entries.length : 0;
  const index = lowerBound(shelf.entries, after.name);
  return shelf.entries[index]?.key.name === after.name ? index + 1 : index;
}

function visitShelf<T extends Keyed>(
  shelf: Shelf<T>,
  name: string | undefined,
  after: ListPosition | undefined,
  visit: (entry: T) => boolean,
): boolean {
  const { entries } = shelf;
  const start = startIn(shelf, after);
  if (name !== undefined) {
    const index = lowerBound(entries, name);
    const found = entries[index];
    return index < start || found?.key.name !== name || visit(found);
  }
  for (let i = start; i < entries.length; i++) if (!visit(entries[i] as T)) return false;
  return true;
}

function countShelf<T extends Keyed>(
  shelf: Shelf<T>,
  name: string | undefined,
  after: ListPosition | undefined,
): number {
  const start = startIn(shelf, after);
  if (name === undefined) return shelf.entries.length - start;
  const index = lowerBound(shelf.entries, name);
  return index >= start && shelf.entries[index]?.key.name === name ? 1 : 0;
}

/** Index of the first entry whose name is not less than `name`. */
function lowerBound<T extends Keyed>(entries: readonly T[], name: string): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareBytewise((entries[middle] as T).key.name, name) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
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
