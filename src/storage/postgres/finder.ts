import { performance } from 'node:perf_hooks';
import { comparePositions } from '../key-order.js';
import { nextPageSize } from '../page-size.js';
import type { Search } from '../query-options.js';
import type { ListPage, ListPosition, ListQuery, ListScope } from '../storage.interface.js';
import { StorageError } from '../storage-error.js';
import type { TextTest } from '../text-test.js';
import type { QueryPool } from './database.js';
import type { EpochKeeper } from './epoch-keeper.js';
import { FoundKeys, type KeysAtVersion } from './found-keys.js';
import { keyRange } from './keys.js';
import { boundsOf, type Reader } from './reader.js';
import type { Row, StatementValue } from './session.js';
import { CHANGED_KEYS, FIND_BLOCKS, text } from './statements.js';

const TIMEOUT_MS = 30_000;
/** Tables with fewer blocks are read by key: that takes less than a tenth of a second. */
const LEAST_BLOCKS = 1_000;
/** The most searches that may run or wait: since they take turns, more would only take longer. */
const MOST_SEARCHES = 10;
/** The most keys that one search may find, and the most changes since. Sorting this many keys takes 30 ms. */
const MOST_KEYS = 20_000;
/** How long to wait before a search that was slower than a plain read is tried again, in milliseconds. */
const VAIN_MS = 60_000;
const MOST_VAIN = 1_000;
const FIRST_PAGE = 100;
const LEAST_PAGE = 16;
const MOST_PAGE = 500;

/**
 * Finds a few selected objects among very many by reading the blocks of the table one after the other, and remembers
 * their keys: the next page, and the next list with the same selection, only read what has changed since.
 *
 * The keys cover all objects that may be selected at some version, and possibly others. Each object is read again at
 * the version of the list, so it does not matter which of them are still selected.
 */
export class Finder {
  private readonly found = new FoundKeys();
  private readonly searches = new Map<string, Promise<KeysAtVersion | undefined>>();
  /** Searches by scope and text test that did not pay, and until when not to try them again. */
  private readonly vain = new Map<string, number>();
  /** Searches take turns on one connection, so the others stay free for short reads. */
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly pool: QueryPool,
    private readonly epochs: EpochKeeper,
    private readonly reader: Reader,
  ) {}

  /** See `PageSource.search`. */
  async search(query: ListQuery, test: TextTest, expected: number | undefined): Promise<Search | undefined> {
    if (query.name !== undefined) return undefined;
    const scope = { resource: query.resource, namespace: query.namespace };
    const name = JSON.stringify([scope.resource, scope.namespace, test]);
    try {
      const now = await this.keys(name, query, scope, test, expected);
      return now && new FoundObjects(this.reader, scope.resource, now, query.after);
    } catch (error) {
      if (!(error instanceof StorageError) || error.code !== 'Unavailable') throw error;
      // The search may have run into a time limit of the database. Pages by key take less time each.
      this.found.forget(name);
      return this.isInVain(name);
    }
  }

  private async keys(
    name: string,
    query: ListQuery,
    scope: ListScope,
    test: TextTest,
    expected: number | undefined,
  ): Promise<KeysAtVersion | undefined> {
    const known = this.found.get(name, this.era, query.at);
    const now = known && (await this.broughtTo(name, known, query, scope, test));
    if (now !== undefined || expected === undefined) return now;
    const found = await this.searchOnce(name, scope, test, expected, query.at);
    return found && this.broughtTo(name, found, query, scope, test);
  }

  /** Identifies the history that versions belong to. */
  private get era(): string {
    const { current } = this.epochs;
    return `${current?.epoch} ${current?.timeline}`;
  }

  /**
   * The keys updated to the version of the query, by default the newest; undefined when too much has changed in
   * between.
   */
  private async broughtTo(
    name: string,
    known: KeysAtVersion,
    { at }: ListQuery,
    scope: ListScope,
    test: TextTest,
  ): Promise<KeysAtVersion | undefined> {
    if (known.version === at) return known;
    const isEarlier = at !== undefined && at < known.version;
    const from = isEarlier ? at : known.version;
    const { era } = this;
    const changed = await this.changedKeys(scope, test, from, isEarlier);
    if (changed === undefined || era !== this.era) return undefined;
    const now = { version: at ?? changed.head, keys: merged(known.keys, changed.keys), searchedAt: known.searchedAt };
    if (now.keys.length <= MOST_KEYS) this.found.put(name, era, now);
    return now;
  }

  /**
   * Keys of the objects that changed after a version; undefined if the log does not reach back that far, or contains
   * too many changes.
   */
  private async changedKeys(scope: ListScope, test: TextTest, from: bigint, isBefore: boolean) {
    const values = [...range(scope), from.toString(), `${isBefore}`, ...testValues(test)];
    const [first, ...rows] = await this.epochs.read(1, () =>
      this.pool.run((session) => session.run(CHANGED_KEYS, values, TIMEOUT_MS), 'long'),
    );
    const { compactRevision, head } = boundsOf(first);
    if (from < compactRevision || from > head || rows.length > MOST_KEYS) return undefined;
    return { head, keys: rows.map((row) => ({ namespace: text(row, 2), name: text(row, 3) })) };
  }

  /** Searches all blocks, once for all callers that need the same search at the same time. */
  private async searchOnce(
    name: string,
    scope: ListScope,
    test: TextTest,
    expected: number,
    at: bigint | undefined,
  ): Promise<KeysAtVersion | undefined> {
    let searching = this.searches.get(name);
    if (searching === undefined) {
      if (this.searches.size >= MOST_SEARCHES) return undefined;
      searching = this.searchBlocks(name, scope, test, expected, at).finally(() => this.searches.delete(name));
      this.searches.set(name, searching);
    }
    return searching;
  }

  private async searchBlocks(
    name: string,
    scope: ListScope,
    test: TextTest,
    expected: number,
    at: bigint | undefined,
  ): Promise<KeysAtVersion | undefined> {
    const scopeName = JSON.stringify([scope.resource, scope.namespace]);
    if (this.isVain(name) || this.isVain(scopeName)) return undefined;
    const { era } = this;
    const start = await this.blocks(scope, test, 0, 0);
    if (at !== undefined && at < start.compactRevision) return undefined;
    // Reading a block costs about as much as reading an object by key. A client that reads one page may want the next,
    // too.
    if (start.blocks < LEAST_BLOCKS || expected * 2 < start.blocks) return undefined;
    if (!(await this.reader.areMore(scope, start.blocks, start.head))) return this.isInVain(scopeName);
    const keys: ListPosition[] = [];
    for (let block = 0; block < start.blocks; ) {
      const chunk = await this.blocks(scope, test, block, start.blocks - block);
      // Objects may have moved to blocks that had already been read.
      if (chunk.file !== start.file || era !== this.era) return undefined;
      for (const key of chunk.keys) keys.push(key);
      if (keys.length > MOST_KEYS) return this.isInVain(name);
      block = chunk.next;
    }
    // The search may have missed objects that changed or were deleted since the first part.
    const changed = await this.changedKeys(scope, test, start.head, true);
    if (changed === undefined || era !== this.era) return undefined;
    const all = { version: start.head, keys: merged(merged([], keys), changed.keys), searchedAt: performance.now() };
    this.found.put(name, era, all);
    return all;
  }

  /** Searches some of the blocks, for some 50 ms, so that other searches get the connection in between. */
  private async blocks(scope: ListScope, test: TextTest, block: number, count: number) {
    const values = [...range(scope), block, count, ...testValues(test)];
    const waiting = this.last.then(async () => {
      const [first, ...rows] = await this.epochs.read(1, () =>
        this.pool.run((session) => session.run(FIND_BLOCKS, values, TIMEOUT_MS), 'long'),
      );
      const next = Number(text(rows.pop() ?? [], 3));
      const keys = rows.map((row) => ({ namespace: text(row, 4), name: text(row, 5) }));
      return { ...boundsOf(first), file: text(first as Row, 2), blocks: Number(text(first as Row, 3)), keys, next };
    });
    this.last = waiting.catch(() => undefined);
    return waiting;
  }

  private isVain(name: string): boolean {
    return (this.vain.get(name) ?? Number.NEGATIVE_INFINITY) > performance.now();
  }

  private isInVain(name: string): undefined {
    if (this.vain.size >= MOST_VAIN) this.vain.clear();
    this.vain.set(name, performance.now() + VAIN_MS);
    return undefined;
  }
}

/** Reads the objects of keys that were found, at one version. */
class FoundObjects implements Search {
  private index: number;
  private size = FIRST_PAGE;

  constructor(
    private readonly reader: Reader,
    private readonly resource: string,
    private readonly found: KeysAtVersion,
    public after: ListPosition | undefined,
  ) {
    this.index = after === undefined ? 0 : firstAfter(found.keys, after);
  }

  async next(count: number): Promise<ListPage | undefined> {
    const { version, keys } = this.found;
    const wanted = keys.slice(this.index, this.index + Math.min(this.size, Math.max(LEAST_PAGE, count)));
    const items = await this.reader.objectsAt(this.resource, wanted, version);
    if (items === undefined) return undefined;
    this.index += wanted.length;
    this.after = wanted.at(-1) ?? this.after;
    this.size = Math.min(MOST_PAGE, nextPageSize({ items }));
    return { resourceVersion: version, items, more: this.index < keys.length };
  }
}

function firstAfter(keys: readonly ListPosition[], after: ListPosition): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (comparePositions(keys[middle] as ListPosition, after) > 0) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Merges the keys in order, each once; `sorted` is in order already. */
function merged(sorted: readonly ListPosition[], others: readonly ListPosition[]): readonly ListPosition[] {
  const all: ListPosition[] = [];
  let index = 0;
  for (const key of [...others].sort(comparePositions)) {
    for (; index < sorted.length && comparePositions(sorted[index] as ListPosition, key) <= 0; index++) {
      all.push(sorted[index] as ListPosition);
    }
    const last = all.at(-1);
    if (last === undefined || comparePositions(last, key) !== 0) all.push(key);
  }
  for (; index < sorted.length; index++) all.push(sorted[index] as ListPosition);
  return all;
}

function range(scope: ListScope): string[] {
  const { resource, fromNamespace, fromName, toNamespace, toName } = keyRange(scope, undefined);
  return [resource, fromNamespace, fromName, toNamespace, toName];
}

function testValues({ prefix, words, any }: TextTest): StatementValue[] {
  return [prefix, words, any ?? null];
}
