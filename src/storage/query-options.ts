import { setTimeout as delay } from 'node:timers/promises';
import { inTurns, type Steps } from '../base/machinery/turns.js';
import { type SelectionPredicate, selects } from './selection-predicate.js';
import type { ListPage, ListPosition, ListQuery, StoredObject } from './storage.interface.js';
import { StorageError } from './storage-error.js';
import { mostWords, type TextTest, textTestOf } from './text-test.js';

const PATIENCE_MS = 3_000;
const STEP_MS = 50;
const SCAN_ROWS = 500;
const MOST_SCAN_ROWS = 2_500;
/** After this many objects, the share of selected objects is roughly known. */
const LOOKED_ROWS = 2_000;
/** If more than one in this many objects is selected, reading page by page is the best method. */
const RARELY = 8;

/** The objects of a search, in pages in the order of their keys. */
export interface Search {
  /** The last key that the search has covered. */
  readonly after: ListPosition | undefined;
  /** Returns about `count` candidates; undefined when the search can't continue. */
  next(count: number): Promise<ListPage | undefined>;
}

/** A store that only reads pages at a version. */
export interface PageSource {
  list(query: ListQuery): Promise<ListPage>;
  /**
   * A page of `limit` objects, without most of those whose text contains none of the words; the last object is included
   * in any case. Undefined when the store can't search for words at that version.
   */
  find?(query: ListQuery & { readonly limit: number }, words: readonly string[]): Promise<ListPage | undefined>;
  /**
   * Searches all objects at once instead of page by page. `expected`: how many objects would probably have to be read
   * in pages, or undefined to use only an earlier search. Undefined when a search would not pay or is impossible at
   * that version.
   */
  search?(query: ListQuery, test: TextTest, expected: number | undefined): Promise<Search | undefined>;
  head(): Promise<bigint>;
}

/** Answers a query with all its options from pages of the source, read one after the other. */
export async function listPages(source: PageSource, query: ListQuery): Promise<ListPage> {
  const { notOlderThan, select, pageSize, ...plain } = query;
  if (notOlderThan !== undefined && plain.at === undefined) await reach(source, notOlderThan);
  const limit = least(plain.limit, pageSize);
  if (select === undefined) return source.list({ ...plain, limit });

  const wanted = limit ?? Number.POSITIVE_INFINITY;
  const items: StoredObject[] = [];
  let { at, after }: { at?: bigint | undefined; after?: ListPosition | undefined } = plain;
  const words = wordsOf(select);
  let test = textTestOf(select);
  let search = test && (await source.search?.(query, test, undefined));
  let rows = SCAN_ROWS;
  let looked = 0;
  let nextTry = LOOKED_ROWS;
  for (;;) {
    const isRare = looked >= nextTry && items.length * RARELY < looked;
    if (search === undefined && test !== undefined && isRare) {
      const missing = (plain.limit ?? Number.POSITIVE_INFINITY) - items.length;
      search = await source.search?.({ ...plain, at, after }, test, (missing * looked) / (items.length + 1));
      nextTry = looked * 4;
    }
    let page = await search?.next(wanted - items.length);
    if (search !== undefined) after = search.after ?? after;
    if (page === undefined) {
      if (search !== undefined) test = undefined;
      search = undefined;
      const scan = { ...plain, at, after, limit: rows, countRemaining: false };
      const found = words === undefined ? undefined : await source.find?.(scan, words);
      page = found ?? (await source.list({ ...scan, limit: SCAN_ROWS }));
      looked += found === undefined ? SCAN_ROWS : rows;
      // When fewer than half of the objects are candidates, larger pages can be read.
      if (found !== undefined && found.items.length * 2 < rows) rows = Math.min(MOST_SCAN_ROWS, rows * 2);
      after = page.items.at(-1)?.key;
    }
    at = page.resourceVersion;
    const left = await inTurns(addSelected(items, page.items, select, wanted));
    if (items.length >= wanted) return { resourceVersion: at, items, more: page.more || left > 0 };
    if (!page.more || after === undefined) return { resourceVersion: at, items, more: false };
  }
}

/** Adds selected objects until the requested number is reached. Returns how many objects it did not check. */
function* addSelected(
  items: StoredObject[],
  from: readonly StoredObject[],
  select: SelectionPredicate,
  wanted: number,
): Steps<number> {
  for (const [i, item] of from.entries()) {
    if (selects(select, select.source.extract(item.json), item.key)) items.push(item);
    if (items.length >= wanted) return from.length - i - 1;
    yield;
  }
  return 0;
}

/** Waits until the source has reached `version`; `TooLargeVersion` when that takes too long. */
export async function reach(source: Pick<PageSource, 'head'>, version: bigint): Promise<void> {
  if (version === 0n) return;
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const head = await source.head();
    if (head >= version) return;
    if (performance.now() >= deadline) {
      const message = `version ${version} is too large; the newest is ${head}`;
      throw new StorageError('TooLargeVersion', message, { resourceVersion: head });
    }
    await delay(STEP_MS);
  }
}

function least(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return Math.min(a, b);
}

/**
 * Words of which every selected object's text contains at least one; undefined if there are none or too many. Labels
 * appear in the text as JSON.stringify writes them. The values of fields need not be strings in the text.
 */
function wordsOf({ labels }: SelectionPredicate): readonly string[] | undefined {
  let best: readonly string[] | undefined;
  for (const { key, operator, values } of labels.requirements) {
    if ((operator !== '=' && operator !== 'in') || values.length > mostWords) continue;
    if (best !== undefined && best.length <= values.length) continue;
    best = values.map((value) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
  }
  return best;
}
