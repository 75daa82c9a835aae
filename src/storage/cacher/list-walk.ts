import type { Steps } from '../../base/machinery/turns.js';
import { comparePositions } from '../key-order.js';
import { type SelectionPredicate, selects } from '../selection-predicate.js';
import type { ListPosition } from '../storage.interface.js';
import type { StorageKey } from '../storage-key.js';
import type { CacheEntry } from './cache-entry.js';
import type { EventWindow, PastState } from './event-window.js';
import type { KeyFilter, OrderedEntries } from './ordered-entries.js';

/** Entries visited in one step, if comparing each of them is cheap. */
const STEP = 1_024;
/** Comparing this many requirements takes as long as visiting one entry. */
const REQUIREMENTS_PER_VISIT = 16;

/** How many entries are compared with the selection in one step. */
function stepOf(select: SelectionPredicate | undefined): number {
  if (select === undefined) return STEP;
  const requirements = select.labels.requirements.length + select.fields.requirements.length;
  return Math.ceil(STEP / (1 + requirements / REQUIREMENTS_PER_VISIT));
}

/** A page of entries at one version, in order. */
export interface Selected {
  readonly items: readonly CacheEntry[];
  /** Whether another selected entry follows. */
  readonly more: boolean;
}

/** The data that a walk reads. It may change between two steps. */
export interface Walked {
  readonly entries: OrderedEntries<CacheEntry>;
  readonly window: EventWindow;
  /** The version that the entries show. */
  readonly position: bigint;
}

/**
 * The selected entries at the version `at`, up to a limit: current entries, with older states in place of those that
 * have changed since. Walks in steps, between which the cache may change. Returns undefined when the cache no longer
 * has the version.
 */
export function* walk(
  cache: Walked,
  at: bigint,
  filter: KeyFilter,
  after: ListPosition | undefined,
  limit: number,
  select: SelectionPredicate | undefined,
): Steps<Selected | undefined> {
  const items: CacheEntry[] = [];
  let shownAt: bigint | undefined;
  let past: ReadonlyMap<string, PastState> = none;
  let gone: readonly CacheEntry[] = [];
  let nextGone = 0;
  let last = after;
  let more = false;
  const step = stepOf(select);
  let left = step;
  const add = (entry: CacheEntry): boolean => {
    left -= 1;
    if (select !== undefined && !selects(select, entry.attributes(select.source), entry)) return true;
    if (items.length >= limit) {
      more = true;
      return false;
    }
    items.push(entry);
    return true;
  };
  const visit = (entry: CacheEntry): boolean => {
    if (past.size > 0) {
      while (nextGone < gone.length && comparePositions(gone[nextGone] as CacheEntry, entry) < 0) {
        if (!add(gone[nextGone++] as CacheEntry)) return false;
      }
      const state = past.get(pastKey(entry));
      const shown = state === undefined ? entry : state.entry;
      if (shown !== undefined && !add(shown)) return false;
    } else if (!add(entry)) return false;
    if (left > 0) return true;
    last = entry;
    return false;
  };
  for (;;) {
    if (at < cache.window.oldest) return undefined;
    if (shownAt !== cache.position) {
      shownAt = cache.position;
      past = at === shownAt ? none : cache.window.statesAt(at);
      gone = goneSince(cache, past, filter, last);
      nextGone = 0;
    }
    left = step;
    cache.entries.visit(filter, last, visit);
    if (more) return { items, more };
    if (left > 0) break;
    yield;
  }
  while (nextGone < gone.length && add(gone[nextGone++] as CacheEntry));
  return { items, more };
}

const none: ReadonlyMap<string, PastState> = new Map();

/** The objects of the filter after `after` that existed at that version and have since been deleted, in order. */
function goneSince(
  { entries }: Walked,
  past: ReadonlyMap<string, PastState>,
  filter: KeyFilter,
  after: ListPosition | undefined,
): CacheEntry[] {
  const gone: CacheEntry[] = [];
  for (const { entry } of past.values()) {
    if (entry === undefined || !lies(filter, after, entry)) continue;
    if (entries.get(entry.namespace, entry.name) === undefined) gone.push(entry);
  }
  return gone.sort(comparePositions);
}

/** How many entries of the filter followed `after` at the past version. */
export function countThen(
  { entries }: Walked,
  past: ReadonlyMap<string, PastState>,
  filter: KeyFilter,
  after: ListPosition | undefined,
): number {
  let count = entries.count(filter, after);
  for (const { key, entry } of past.values()) {
    if (!lies(filter, after, key)) continue;
    if (entry !== undefined) count += 1;
    if (entries.get(key.namespace, key.name) !== undefined) count -= 1;
  }
  return count;
}

/** Whether the key is within the filter and after `after`. */
function lies(filter: KeyFilter, after: ListPosition | undefined, key: ListPosition): boolean {
  return concerns(filter, key) && (after === undefined || comparePositions(key, after) > 0);
}

/** The candidates after `after` that match the filter and the selection, in order. */
export function* sorted(
  candidates: readonly CacheEntry[],
  filter: KeyFilter,
  after: ListPosition | undefined,
  limit: number,
  select: SelectionPredicate,
): Steps<Selected> {
  let runs: CacheEntry[][] = [];
  const step = stepOf(select);
  for (let from = 0; from < candidates.length; from += step) {
    const run = candidates
      .slice(from, from + step)
      .filter((entry) => lies(filter, after, entry) && selects(select, entry.attributes(select.source), entry));
    if (run.length > 0) runs.push(run.sort(comparePositions));
    yield;
  }
  while (runs.length > 1) {
    const merged: CacheEntry[][] = [];
    for (let i = 0; i < runs.length; i += 2) {
      const [first, second] = [runs[i] as CacheEntry[], runs[i + 1]];
      merged.push(second === undefined ? first : yield* mergedRuns(first, second));
    }
    runs = merged;
  }
  const items = runs[0] ?? [];
  return { items: items.length > limit ? items.slice(0, limit) : items, more: items.length > limit };
}

function* mergedRuns(first: readonly CacheEntry[], second: readonly CacheEntry[]): Steps<CacheEntry[]> {
  const merged: CacheEntry[] = [];
  let [i, j] = [0, 0];
  while (i < first.length || j < second.length) {
    const [a, b] = [first[i], second[j]];
    if (b === undefined || (a !== undefined && comparePositions(a, b) < 0)) {
      merged.push(a as CacheEntry);
      i += 1;
    } else {
      merged.push(b);
      j += 1;
    }
    if (merged.length % STEP === 0) yield;
  }
  return merged;
}

/** Whether the key lies in the scope. */
export function concerns(scope: KeyFilter, key: ListPosition): boolean {
  if (scope.namespace !== undefined && key.namespace !== scope.namespace) return false;
  return scope.name === undefined || key.name === scope.name;
}

/** A unique string for each key of a resource. */
export function pastKey({ namespace, name }: Pick<StorageKey, 'namespace' | 'name'>): string {
  return `${namespace}\u0000${name}`;
}
