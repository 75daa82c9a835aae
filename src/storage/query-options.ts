import { setTimeout as delay } from 'node:timers/promises';
import { type SelectionPredicate, selects } from './selection-predicate.js';
import { StorageError } from './storage.errors.js';
import type { ListPage, ListPosition, ListQuery, StoredObject } from './storage.interface.js';

const PATIENCE_MS = 3_000;
const STEP_MS = 50;
const SCAN_ROWS = 500;
const MOST_SCAN_ROWS = 2_500;
/** Looking for more words in a text takes longer than sending it. */
const MOST_WORDS = 8;

/** A store that only knows pages at a version. */
export interface PageSource {
  list(query: ListQuery): Promise<ListPage>;
  /**
   * A page of `limit` objects without most of those whose text has none of the words; its last object is there in any case.
   * Undefined when the store can't look for words at that version.
   */
  find?(query: ListQuery & { readonly limit: number }, words: readonly string[]): Promise<ListPage | undefined>;
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
  let rows = SCAN_ROWS;
  for (;;) {
    const scan = { ...plain, at, after, limit: rows, countRemaining: false };
    const found = words === undefined ? undefined : await source.find?.(scan, words);
    const page = found ?? (await source.list({ ...scan, limit: SCAN_ROWS }));
    // Where most objects are not wanted, more can be looked at together.
    if (found !== undefined && found.items.length * 2 < rows) rows = Math.min(MOST_SCAN_ROWS, rows * 2);
    at = page.resourceVersion;
    for (const [i, item] of page.items.entries()) {
      if (!selects(select, select.source.extract(item.json), item.key)) continue;
      items.push(item);
      if (items.length < wanted) continue;
      return { resourceVersion: at, items, more: page.more || i < page.items.length - 1 };
    }
    after = page.items.at(-1)?.key;
    if (!page.more || after === undefined) return { resourceVersion: at, items, more: false };
  }
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
 * Words of which the text of every selected object has one; undefined if there are none or too many. Labels stand in it as
 * JSON.stringify writes them. Values of fields need not be strings there.
 */
function wordsOf({ labels }: SelectionPredicate): readonly string[] | undefined {
  let best: readonly string[] | undefined;
  for (const { key, operator, values } of labels.requirements) {
    if ((operator !== '=' && operator !== 'in') || values.size > MOST_WORDS) continue;
    if (best !== undefined && best.length <= values.size) continue;
    best = [...values].map((value) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
  }
  return best;
}
