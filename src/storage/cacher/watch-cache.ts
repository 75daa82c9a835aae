import { invariant } from '../../base/machinery/invariant.js';
import { atOnce, type Steps } from '../../base/machinery/turns.js';
import { noteStates } from '../change-attributes.js';
import type { AttributeSource } from '../selection-predicate.js';
import type { Change, ListPage, ListPosition, ListQuery, ListScope, StoredObject } from '../storage.interface.js';
import { AttributeIndex } from './attribute-index.js';
import { CacheEntry, type Shelf } from './cache-entry.js';
import { EventWindow, type WindowLimits } from './event-window.js';
import { type Selected, sorted, walk } from './list-walk.js';
import { OrderedEntries } from './ordered-entries.js';

/** A list query for the cache, at a version that it holds. */
export type CacheQuery = Pick<ListQuery, 'namespace' | 'name' | 'after' | 'limit' | 'select' | 'countRemaining' | 'at'>;

/**
 * All objects of one resource at one version (`position`), and the recent changes that led to it. Does no I/O and never
 * waits: its owner fills it from one snapshot and then passes it every later change in order.
 */
export class WatchCache {
  readonly resource: string;
  readonly entries = new OrderedEntries<CacheEntry>();
  readonly window: EventWindow;
  private readonly index = new AttributeIndex();
  private readonly shelves = new Map<string, Shelf>();
  /** The source for which the attributes of all entries have already been extracted. */
  private extracted: AttributeSource | undefined;
  private entryBytes = 0;
  private lastPosition = 0n;

  constructor(resource: string, limits: WindowLimits) {
    this.resource = resource;
    this.window = new EventWindow(limits);
  }

  /** The version up to which the cache is complete. */
  get position(): bigint {
    return this.lastPosition;
  }

  /** The oldest version that can be listed or resumed from. */
  get oldest(): bigint {
    return this.window.oldest;
  }

  get objects(): number {
    return this.entries.size;
  }

  /** The number of objects in a namespace ('' for all). */
  objectsIn(namespace: string): number {
    return this.entries.count(namespace === '' ? {} : { namespace }, undefined);
  }

  /** Estimated memory, including the history. */
  get bytes(): number {
    return this.entryBytes + this.window.bytes;
  }

  /** Adds objects of the snapshot that the cache is filled from. */
  load(objects: readonly StoredObject[]): void {
    for (const object of objects) this.put(this.entryOf(object));
  }

  /** Records which version the loaded snapshot shows. */
  begin(position: bigint): void {
    this.lastPosition = position;
    this.window.begin(position);
  }

  /**
   * Adds the next changes and returns them in the form in which they are stored: their states share text with the
   * entries.
   *
   * @throws InvariantError when they do not follow each other and the position
   */
  apply(changes: readonly Change[], position: bigint): readonly Change[] {
    let last = this.lastPosition;
    for (const { resourceVersion } of changes) {
      invariant(resourceVersion > last, 'a cache receives changes in order', this.resource, resourceVersion, last);
      last = resourceVersion;
    }
    const kept = changes.map((change) => this.applyChange(change));
    if (position > this.lastPosition) this.lastPosition = position;
    return kept;
  }

  get(namespace: string, name: string): StoredObject | undefined {
    const found = this.entries.get(namespace, name);
    if (found === undefined) return undefined;
    const { key, uid, resourceVersion, json } = found;
    return { key, uid, resourceVersion, json };
  }

  /**
   * {@link lists} without a pause. The objects of the page compute some of their properties: don't spread or send them.
   */
  list(query: CacheQuery): ListPage | undefined {
    return atOnce(this.lists(query));
  }

  /**
   * One page, in steps: among very many objects it may take long to find the selected ones. The cache may change
   * between two steps; the page shows one version all the same. Undefined if the cache doesn't hold that version, or
   * loses it meanwhile.
   */
  *lists(query: CacheQuery): Steps<ListPage | undefined> {
    const { select, after } = query;
    if (query.at !== undefined && (query.at > this.lastPosition || query.at < this.window.oldest)) return undefined;
    if (select !== undefined) yield* this.extractAll(select.source);
    const limit = query.limit ?? Number.POSITIVE_INFINITY;
    let selected: Selected | undefined;
    let at = query.at ?? this.lastPosition;
    if (select !== undefined && at === this.lastPosition) {
      const candidates = yield* this.index.candidates(select, this.isFew, (visit) => this.eachInSteps(visit));
      // The candidates are complete only for the version at which they were found.
      if (query.at === undefined) at = this.lastPosition;
      if (candidates !== undefined && at === this.lastPosition) {
        selected = yield* sorted(candidates, query, after, limit, select);
      }
    }
    selected ??= yield* walk(this, at, query, after, limit, select);
    if (selected === undefined) return undefined;
    const { items, more } = selected;
    const page = { resourceVersion: at, items, more };
    if (query.countRemaining === undefined || query.countRemaining === false) return { ...page, remaining: undefined };
    if (!more) return { ...page, remaining: 0 };
    const last = items.at(-1) ?? after;
    return { ...page, remaining: this.entries.count(query, last) - this.window.growthSince(at, query, last) };
  }

  /** Extracts the attributes of all entries in advance, so that no request must do it for all of them at once. */
  private *extractAll(source: AttributeSource): Steps {
    if (this.extracted === source) return;
    yield* this.eachInSteps((entry) => entry.attributes(source));
    this.extracted = source;
  }

  /** Visits all entries in order, a limited amount of text in each step. The cache may change between two steps. */
  private *eachInSteps(visit: (entry: CacheEntry) => void): Steps {
    let last: ListPosition | undefined;
    do {
      let characters = 0;
      const after = last;
      last = undefined;
      this.entries.visit({}, after, (entry) => {
        visit(entry);
        characters += ENTRY_CHARACTERS + entry.json.length;
        if (characters < CHARACTERS_OF_STEP) return true;
        last = entry;
        return false;
      });
      if (last !== undefined) yield;
    } while (last !== undefined);
  }

  /** Whether sorting this many entries is cheaper than walking along all entries. */
  private readonly isFew = (count: number): boolean => count * Math.log2(count + 1) <= this.entries.size;

  /** Changes of the scope after `from`; undefined when the cache does not go back that far. */
  changesAfter(from: bigint, scope: ListScope): readonly Change[] | undefined {
    if (from < this.window.oldest) return undefined;
    return this.window.changesAfter(from, scope);
  }

  private applyChange(change: Change): Change {
    const { type, uid, resourceVersion, json } = change;
    const shelf = this.shelf(change.key.namespace);
    const key = { ...shelf, name: change.key.name };
    let before: CacheEntry | undefined;
    let after: CacheEntry | undefined;
    if (type === 'delete') {
      before = this.entries.delete(key.namespace, key.name);
    } else {
      after = new CacheEntry(shelf, { key, uid, resourceVersion, json });
      before = this.entries.set(after);
    }
    this.entryBytes += (after?.bytes ?? 0) - (before?.bytes ?? 0);
    this.index.update(before, after);
    const previousJson = change.previousJson === undefined ? undefined : (before?.json ?? change.previousJson);
    const kept: Change = { type, key, uid, resourceVersion, json, previousJson };
    if (this.index.isUsed) noteStates(kept, before, after);
    this.window.add(kept, before, after);
    return kept;
  }

  private put(entry: CacheEntry): void {
    const before = this.entries.set(entry);
    this.entryBytes += entry.bytes - (before?.bytes ?? 0);
  }

  private entryOf(object: StoredObject): CacheEntry {
    return new CacheEntry(this.shelf(object.key.namespace), object);
  }

  /** One shared shelf for all objects of a namespace: there may be thousands. */
  private shelf(namespace: string): Shelf {
    const known = this.shelves.get(namespace);
    if (known !== undefined) return known;
    if (this.shelves.size >= MOST_NAMESPACES) this.shelves.clear();
    const shelf = { resource: this.resource, namespace };
    this.shelves.set(namespace, shelf);
    return shelf;
  }
}

const MOST_NAMESPACES = 50_000;
/** Characters of text read in one step. */
const CHARACTERS_OF_STEP = 64 * 1024;
/** The cost of visiting an entry, in characters of text. */
const ENTRY_CHARACTERS = 128;
