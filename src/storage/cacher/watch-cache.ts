import { noteStates } from '../change-attributes.js';
import { type AttributeSource, type SelectionPredicate, selects } from '../selection-predicate.js';
import type {
  Change,
  ListPage,
  ListPosition,
  ListQuery,
  Scope,
  StorageKey,
  StoredObject,
} from '../storage.interface.js';
import { AttributeIndex } from './attribute-index.js';
import { CacheEntry } from './cache-entry.js';
import { EventWindow, type PastState, type WindowLimits } from './event-window.js';
import { comparePositions } from './key-order.js';
import { OrderedEntries } from './ordered-entries.js';

/** A list query for the cache, at a version that it holds. */
export type CacheQuery = Pick<ListQuery, 'namespace' | 'name' | 'after' | 'limit' | 'select' | 'countRemaining' | 'at'>;

/**
 * All objects of one resource at one version (`position`), and the recent changes that lead there. Does no I/O and
 * never waits: its owner fills it from one snapshot and then gives it every later change in order.
 */
export class WatchCache {
  readonly resource: string;
  private readonly entries = new OrderedEntries<CacheEntry>();
  private readonly index = new AttributeIndex();
  private readonly window: EventWindow;
  private readonly namespaces = new Map<string, string>();
  /** The source whose attributes all entries have that existed when it was extracted. */
  private extracted: AttributeSource | undefined;
  private entryBytes = 0;
  private lastPosition = 0n;

  constructor(resource: string, limits: WindowLimits) {
    this.resource = resource;
    this.window = new EventWindow(limits);
  }

  /** Everything up to this version is in the cache. */
  get position(): bigint {
    return this.lastPosition;
  }

  /** Oldest version that can be listed at or resumed from. */
  get oldest(): bigint {
    return this.window.oldest;
  }

  get objects(): number {
    return this.entries.size;
  }

  /** Estimated memory, including the history. */
  get bytes(): number {
    return this.entryBytes + this.window.bytes;
  }

  /** Takes objects of the snapshot that the cache is filled from. */
  load(objects: readonly StoredObject[]): void {
    for (const object of objects) this.put(new CacheEntry(this.interned(object)));
  }

  /** Says which version the loaded snapshot shows. */
  begin(position: bigint): void {
    this.lastPosition = position;
    this.window.begin(position);
  }

  /** Takes the next changes, and returns them in the form that is kept: their states share text with the entries. */
  apply(changes: readonly Change[], position: bigint): readonly Change[] {
    const kept = changes.map((change) => this.applyChange(change));
    if (position > this.lastPosition) this.lastPosition = position;
    return kept;
  }

  get(namespace: string, name: string): StoredObject | undefined {
    return this.entries.get(namespace, name)?.object;
  }

  /** One page; undefined when `at` is a version that the cache doesn't hold. */
  list(query: CacheQuery): ListPage | undefined {
    const at = query.at ?? this.lastPosition;
    if (at > this.lastPosition || at < this.window.oldest) return undefined;
    const past = this.window.statesAt(at);
    const limit = query.limit ?? Number.POSITIVE_INFINITY;
    const { items, more } = past.size > 0 ? this.listPast(query, limit, past) : this.listNow(query, limit);
    const page = { resourceVersion: at, items: items.map(({ object }) => object), more };
    if (query.countRemaining !== true) return { ...page, remaining: undefined };
    const last = items.at(-1)?.key ?? query.after;
    return { ...page, remaining: more ? this.count(query, last, past) : 0 };
  }

  /**
   * Extracts the attributes of some entries after `after`, so that no list has to do it for all of them at once.
   * Returns where to go on; undefined when the attributes of all are known.
   */
  extractSome(source: AttributeSource, after: ListPosition | undefined): ListPosition | undefined {
    if (this.extracted === source) return undefined;
    let characters = 0;
    let last: ListPosition | undefined;
    this.entries.visit({}, after, (entry) => {
      entry.attributes(source);
      characters += entry.object.json.length;
      last = characters < EXTRACTED_AT_ONCE ? undefined : entry.key;
      return last === undefined;
    });
    if (last === undefined) this.extracted = source;
    return last;
  }

  /** Changes of the scope after `from`; undefined when the cache does not go back that far. */
  changesAfter(from: bigint, scope: Scope): readonly Change[] | undefined {
    if (from < this.window.oldest) return undefined;
    return this.window.changesAfter(from).filter((change) => concerns(scope, change.key));
  }

  private applyChange(change: Change): Change {
    const { type, uid, resourceVersion, json } = change;
    const object = this.interned({ key: change.key, uid, resourceVersion, json });
    let before: CacheEntry | undefined;
    let after: CacheEntry | undefined;
    if (type === 'delete') {
      before = this.entries.delete(object.key.namespace, object.key.name);
    } else {
      after = new CacheEntry(object);
      before = this.entries.set(after);
    }
    this.entryBytes += (after?.bytes ?? 0) - (before?.bytes ?? 0);
    this.index.update(before, after);
    const previousJson = change.previousJson === undefined ? undefined : (before?.object.json ?? change.previousJson);
    const kept: Change = { type, key: object.key, uid, resourceVersion, json, previousJson };
    if (this.index.isUsed) noteStates(kept, before, after);
    this.window.add(kept, before);
    return kept;
  }

  private put(entry: CacheEntry): void {
    const before = this.entries.set(entry);
    this.entryBytes += entry.bytes - (before?.bytes ?? 0);
  }

  /** The object with the strings of its key shared: thousands of objects have the same namespace. */
  private interned(object: StoredObject): StoredObject {
    const { name } = object.key;
    const namespace = this.namespace(object.key.namespace);
    const { uid, resourceVersion, json } = object;
    return { key: { resource: this.resource, namespace, name }, uid, resourceVersion, json };
  }

  private namespace(text: string): string {
    const known = this.namespaces.get(text);
    if (known !== undefined) return known;
    if (this.namespaces.size >= MOST_NAMESPACES) this.namespaces.clear();
    this.namespaces.set(text, text);
    return text;
  }

  private listNow(query: CacheQuery, limit: number): Selected {
    const { select } = query;
    if (select !== undefined) {
      const candidates = this.index.candidates(select, (visit) => this.entries.visit({}, undefined, visit));
      // Sorting pays only for a small part of the entries.
      if (candidates !== undefined && candidates.length * SORT_COST <= this.entries.size) {
        return this.sortCandidates(query, candidates, select, limit);
      }
    }
    const collector = new Collector(select, limit);
    this.entries.visit(query, query.after, (entry) => collector.add(entry));
    return collector;
  }

  private sortCandidates(
    query: CacheQuery,
    candidates: readonly CacheEntry[],
    select: SelectionPredicate,
    limit: number,
  ): Selected {
    const { after } = query;
    const scope = { ...query, resource: this.resource };
    const selected = candidates.filter(
      (entry) =>
        concerns(scope, entry.key) &&
        (after === undefined || comparePositions(entry.key, after) > 0) &&
        selects(select, entry.attributes(select.source)),
    );
    selected.sort((a, b) => comparePositions(a.key, b.key));
    return { items: selected.length > limit ? selected.slice(0, limit) : selected, more: selected.length > limit };
  }

  /**
   * The page at an earlier version: the present entries, with older states in place of those that have changed since.
   */
  private listPast(query: CacheQuery, limit: number, past: ReadonlyMap<string, PastState>): Selected {
    const collector = new Collector(query.select, limit);
    this.visitPast(query, query.after, past, (entry) => collector.add(entry));
    return collector;
  }

  private visitPast(
    query: CacheQuery,
    after: ListPosition | undefined,
    past: ReadonlyMap<string, PastState>,
    visit: (entry: CacheEntry) => boolean,
  ): void {
    const scope = { ...query, resource: this.resource };
    const gone: CacheEntry[] = [];
    for (const { key, entry } of past.values()) {
      if (entry === undefined || !concerns(scope, key)) continue;
      if (after !== undefined && comparePositions(key, after) <= 0) continue;
      if (this.entries.get(key.namespace, key.name) === undefined) gone.push(entry);
    }
    gone.sort((a, b) => comparePositions(a.key, b.key));
    let next = 0;
    let goesOn = true;
    this.entries.visit(query, after, (entry) => {
      while (next < gone.length && comparePositions((gone[next] as CacheEntry).key, entry.key) < 0) {
        goesOn = visit(gone[next++] as CacheEntry);
        if (!goesOn) return false;
      }
      const state = past.get(pastKey(entry.key));
      const shown = state === undefined ? entry : state.entry;
      goesOn = shown === undefined || visit(shown);
      return goesOn;
    });
    while (goesOn && next < gone.length) goesOn = visit(gone[next++] as CacheEntry);
  }

  private count(query: CacheQuery, after: ListPosition | undefined, past: ReadonlyMap<string, PastState>): number {
    if (past.size === 0) return this.entries.count(query, after);
    let count = 0;
    this.visitPast(query, after, past, () => {
      count += 1;
      return true;
    });
    return count;
  }
}

const MOST_NAMESPACES = 50_000;
/** Characters of text that are parsed before other work gets its turn. */
const EXTRACTED_AT_ONCE = 256 * 1024;
const SORT_COST = 4;

interface Selected {
  readonly items: readonly CacheEntry[];
  readonly more: boolean;
}

/** Collects selected entries up to a limit, and finds out whether another one follows. */
class Collector implements Selected {
  readonly items: CacheEntry[] = [];
  more = false;

  constructor(
    private readonly select: SelectionPredicate | undefined,
    private readonly limit: number,
  ) {}

  add(entry: CacheEntry): boolean {
    const { select } = this;
    if (select !== undefined && !selects(select, entry.attributes(select.source))) return true;
    if (this.items.length >= this.limit) {
      this.more = true;
      return false;
    }
    this.items.push(entry);
    return true;
  }
}

/** Whether the key lies in the scope. */
export function concerns(scope: Scope, key: StorageKey): boolean {
  if (scope.namespace !== undefined && key.namespace !== scope.namespace) return false;
  return scope.name === undefined || key.name === scope.name;
}

/** One string per key of a resource. */
function pastKey(key: Pick<StorageKey, 'namespace' | 'name'>): string {
  return `${key.namespace}\u0000${key.name}`;
}
