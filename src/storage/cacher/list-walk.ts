import type { Steps } from '../../base/machinery/turns.js';
import { comparePositions } from '../key-order.js';
import { type SelectionPredicate, selects } from '../selection-predicate.js';
import type { ListPosition } from '../storage.interface.js';
import type { CacheEntry } from './cache-entry.js';
import { concernsAfter } from './concerns.js';
import { type EventWindow, entryAt } from './event-window.js';
import type { KeyFilter, OrderedEntries } from './ordered-entries.js';
import type { Tombstone } from './tombstone.js';

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
 * have changed since, and with objects that have been deleted since. Walks in steps, between which the cache may change.
 * Returns undefined when the cache no longer has the version.
 */
export function* walk(
  cache: Walked,
  at: bigint,
  filter: KeyFilter,
  after: ListPosition | undefined,
  limit: number,
  select: SelectionPredicate | undefined,
): Steps<Selected | undefined> {
  const step = stepOf(select);
  const found = new Page(limit, select);
  let last = after;
  for (let isCut = true; isCut; ) {
    if (at < cache.window.oldest) return undefined;
    const isPast = at !== cache.position;
    const deleted = isPast ? cache.window.deleted(filter, last, step) : none;
    let nextDeleted = 0;
    let left = step;
    isCut = false;
    const add = (entry: CacheEntry | Tombstone): boolean => {
      left -= 1;
      const shown = isPast ? entryAt(entry, at) : (entry as CacheEntry);
      if (shown !== undefined && !found.add(shown)) return false;
      isCut = left <= 0;
      last = entry;
      return !isCut;
    };
    /** Adds deleted objects up to an entry. */
    const addDeleted = (end: CacheEntry | undefined): boolean => {
      for (; nextDeleted < deleted.length; nextDeleted++) {
        const tombstone = deleted[nextDeleted] as Tombstone;
        if (end !== undefined && comparePositions(tombstone, end) > 0) break;
        if (!add(tombstone)) return false;
      }
      return true;
    };
    cache.entries.visit(filter, last, (entry) => addDeleted(entry) && add(entry));
    if (!isCut && !found.more) addDeleted(undefined);
    if (found.more) break;
    if (isCut) yield;
  }
  return found;
}

const none: readonly Tombstone[] = [];

class Page implements Selected {
  readonly items: CacheEntry[] = [];
  more = false;

  constructor(
    private readonly limit: number,
    private readonly select: SelectionPredicate | undefined,
  ) {}

  /** False when there is no room for a selected entry. */
  add(entry: CacheEntry): boolean {
    const { select } = this;
    if (select !== undefined && !selects(select, entry.attributes(select.source), entry)) return true;
    this.more = this.items.length >= this.limit;
    if (!this.more) this.items.push(entry);
    return !this.more;
  }
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
      .filter(
        (entry) => concernsAfter(filter, after, entry) && selects(select, entry.attributes(select.source), entry),
      );
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
