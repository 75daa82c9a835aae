import type { Steps } from '../../base/machinery/turns.js';
import type { AttributeSource, ObjectAttributes, SelectionPredicate } from '../selection-predicate.js';
import type { CacheEntry } from './cache-entry.js';

/** The entries with one value. A single entry needs no set: labels that identify single objects are frequent. */
type Postings = CacheEntry | Set<CacheEntry>;

/** A label or field, and the values of which an object must have one. */
export interface Term {
  readonly id: string;
  readonly values: readonly string[];
}

/** The most indexed labels and fields of a resource; selections by others need a scan. */
const MOST_TERMS = 16;
/** The most terms that are indexed for one request. */
const MOST_NEW_TERMS = 4;
/** How many unindexed terms are remembered because a request could have used them; the latest ones stay. */
const MOST_WANTED = 64;

interface IndexedTerm {
  readonly byValue: Map<string, Postings>;
  /** Whether the index of the term is still being built. */
  isUnfinished: boolean;
  /** The number of the last request that used the term. */
  usedAt: number;
}

/**
 * Finds entries by the values of labels and fields that clients select by. A term is indexed when a client first uses
 * it, and kept up to date from then on. A resource without selections costs nothing.
 *
 * When there are too many terms, a term that is requested a second time replaces the one that has been unused for
 * longest: no client can keep others out, and terms that are requested once displace nothing.
 */
export class AttributeIndex {
  private readonly terms = new Map<string, IndexedTerm>();
  private readonly wanted = new Set<string>();
  private requests = 0;
  private source: AttributeSource | undefined;

  /** Whether any request has selected entries. */
  get isUsed(): boolean {
    return this.source !== undefined;
  }

  /**
   * A superset of the selected entries, in no order. Undefined when the predicate has no equality that is or could be
   * indexed, and when there are more candidates than `most` allows. `some` visits every entry in steps, to index a new
   * term.
   */
  *candidates(
    predicate: SelectionPredicate,
    most: (count: number) => boolean,
    some: (visit: (entry: CacheEntry) => void) => Steps,
  ): Steps<readonly CacheEntry[] | undefined> {
    this.source ??= predicate.source;
    if (this.source !== predicate.source) return undefined;
    const terms = termsOf(predicate);
    this.requests++;
    for (const { id } of this.newTerms(terms)) yield* this.build(id, some);
    // No pause from here on: the candidates must all be from one moment.
    let best: readonly Postings[] | undefined;
    let used: IndexedTerm | undefined;
    let bestSize = Number.POSITIVE_INFINITY;
    for (const { id, values } of terms) {
      const term = this.terms.get(id);
      if (term === undefined || term.isUnfinished) continue;
      const postings = values.map((value) => term.byValue.get(value)).filter((found) => found !== undefined);
      const size = postings.reduce((sum, found) => sum + (found instanceof Set ? found.size : 1), 0);
      if (size < bestSize) {
        best = postings;
        used = term;
        bestSize = size;
      }
    }
    if (used !== undefined) used.usedAt = this.requests;
    if (best === undefined || !most(bestSize)) return undefined;
    return best.flatMap((found) => (found instanceof Set ? [...found] : [found]));
  }

  /** Applies a change of the cache: `before` was removed, `after` was added. */
  update(before: CacheEntry | undefined, after: CacheEntry | undefined): void {
    const source = this.source;
    if (source === undefined) return;
    for (const [id, { byValue }] of this.terms) {
      if (before !== undefined) remove(byValue, indexedValue(id, before.attributes(source)), before);
      if (after !== undefined) add(byValue, indexedValue(id, after.attributes(source)), after);
    }
  }

  /** The terms of a request that must be indexed for it. */
  private newTerms(terms: readonly Term[]): Term[] {
    const found = terms.filter(({ id }) => !this.terms.has(id)).slice(0, MOST_NEW_TERMS);
    const free = MOST_TERMS - this.terms.size;
    if (found.length <= free) return found;
    // At most one term above the free slots is indexed: indexing takes as long as a scan.
    const further = found.slice(free).find(({ id }) => this.isWantedAgain(id));
    return [...found.slice(0, free), ...(further === undefined ? [] : [further])];
  }

  private isWantedAgain(id: string): boolean {
    if (this.wanted.delete(id)) return true;
    this.wanted.add(id);
    const [oldest] = this.wanted;
    if (this.wanted.size > MOST_WANTED) this.wanted.delete(oldest as string);
    return false;
  }

  /** The index receives changes from the first step on, so an entry may be added twice. */
  private *build(id: string, some: (visit: (entry: CacheEntry) => void) => Steps): Steps {
    // Another request may have indexed the term meanwhile, or taken the slot.
    if (this.terms.has(id) || (this.terms.size >= MOST_TERMS && !this.dropOldest())) return;
    const source = this.source as AttributeSource;
    const term: IndexedTerm = { byValue: new Map(), isUnfinished: true, usedAt: this.requests };
    this.terms.set(id, term);
    yield* some((entry) => add(term.byValue, indexedValue(id, entry.attributes(source)), entry));
    term.isUnfinished = false;
  }

  /** Frees the slot of the term that was unused for longest; returns false if all terms are still being built. */
  private dropOldest(): boolean {
    let oldest: string | undefined;
    let usedAt = Number.POSITIVE_INFINITY;
    for (const [id, term] of this.terms) {
      if (term.isUnfinished || term.usedAt >= usedAt) continue;
      oldest = id;
      usedAt = term.usedAt;
    }
    return oldest !== undefined && this.terms.delete(oldest);
  }
}

/** The values of labels and fields that every selected object must have. */
export function termsOf({ labels, fields }: SelectionPredicate): Term[] {
  const terms: Term[] = [];
  for (const { key, operator, values } of labels.requirements) {
    if (operator === '=' || operator === 'in') terms.push({ id: `label ${key}`, values });
  }
  for (const { field, equals, value } of fields.requirements) {
    // Selections by name and namespace already use the key order. An absent field counts as an empty one.
    if (equals && !field.startsWith('metadata.')) terms.push({ id: `field ${field}`, values: [value] });
  }
  return terms;
}

/** The value of a term; undefined when an object does not have the label. */
export function indexedValue(id: string, { labels, fields }: ObjectAttributes): string | undefined {
  if (id.startsWith('field ')) return fields[id.slice(6)] ?? '';
  const key = id.slice(6);
  return labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
}

function add(byValue: Map<string, Postings>, value: string | undefined, entry: CacheEntry): void {
  if (value === undefined) return;
  const found = byValue.get(value);
  if (found === undefined || found === entry) byValue.set(value, entry);
  else if (found instanceof Set) found.add(entry);
  else byValue.set(value, new Set([found, entry]));
}

function remove(byValue: Map<string, Postings>, value: string | undefined, entry: CacheEntry): void {
  if (value === undefined) return;
  const found = byValue.get(value);
  if (found === entry) byValue.delete(value);
  else if (found instanceof Set) {
    found.delete(entry);
    if (found.size === 0) byValue.delete(value);
  }
}
