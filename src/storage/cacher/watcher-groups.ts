import { attributesOfChange } from '../change-attributes.js';
import type { AttributeSource } from '../selection-predicate.js';
import type { Change, WatchScope } from '../storage.interface.js';
import type { StorageKey } from '../storage-key.js';
import { indexedValue, termsOf } from './attribute-index.js';
import { type CacheWatcher, sizedBatch } from './cache-watcher.js';
import { concerns } from './concerns.js';

interface Group {
  readonly scope: WatchScope;
  readonly term: Term | undefined;
  readonly watchers: Set<CacheWatcher>;
  pending: Change[];
}

/** The outcome of an offer. */
interface Offered {
  /** Watchers whose buffers are now too full. */
  readonly slow: readonly CacheWatcher[];
  /** Watchers that wait for a turn to receive what they were offered. */
  readonly due: readonly CacheWatcher[];
}

/** A requirement of a watch: one value of one label or field. */
interface Term {
  readonly source: AttributeSource;
  readonly id: string;
  readonly value: string;
}

/** A label or field by which changes are matched to watchers. */
interface WatchedTerm {
  readonly source: AttributeSource;
  readonly watchers: Set<CacheWatcher>;
}

/** Separator between parts of an id: no label or field name contains it. */
const PART = '\u0000';

const FEW_GROUPS = 8;
/**
 * The most labels and fields by which changes are matched to watchers; watches that select by others receive all
 * changes of their scope. A term with many more watches replaces the term with the fewest.
 */
const MOST_TERMS = 8;
/**
 * How many times more watchers a term needs to replace another one, so that two terms do not keep replacing each other.
 */
const TIMES_MORE = 2;

/**
 * The live watchers of a resource by scope and by what they select. Changes are filtered once per group instead of once
 * per watcher.
 */
export class WatcherGroups {
  private readonly groups = new Map<string, Group>();
  private readonly terms = new Map<string, WatchedTerm>();
  private readonly ids = new Map<CacheWatcher, string>();
  /** Watchers whose term is not among `terms`, by term. */
  private readonly waiting = new Map<string, Set<CacheWatcher>>();
  private readonly receivers = new Set<CacheWatcher>();

  get size(): number {
    return this.ids.size;
  }

  /** The watchers that receive positions without changes. */
  get positionReceivers(): ReadonlySet<CacheWatcher> {
    return this.receivers;
  }

  addPositionReceiver(watcher: CacheWatcher): void {
    if (this.ids.has(watcher)) this.receivers.add(watcher);
  }

  removePositionReceiver(watcher: CacheWatcher): void {
    this.receivers.delete(watcher);
  }

  add(watcher: CacheWatcher): void {
    if (this.ids.has(watcher)) return;
    if (watcher.wantsPositions) this.receivers.add(watcher);
    const { scope } = watcher;
    const wanted = wantedTerms(scope);
    const term = wanted.find((one) => this.hasPlace(one));
    const id = groupId(scope.namespace, scope.name, term);
    let group = this.groups.get(id);
    if (group === undefined) {
      group = { scope, term, watchers: new Set(), pending: [] };
      this.groups.set(id, group);
      if (term !== undefined && !this.terms.has(term.id)) {
        this.terms.set(term.id, { source: term.source, watchers: new Set() });
      }
    }
    group.watchers.add(watcher);
    this.ids.set(watcher, id);
    const known = term && this.terms.get(term.id);
    if (known !== undefined) known.watchers.add(watcher);
    else if (wanted[0] !== undefined) this.wait(watcher, wanted[0].id);
  }

  delete(watcher: CacheWatcher): void {
    const id = this.ids.get(watcher);
    const group = id === undefined ? undefined : this.groups.get(id);
    if (id === undefined || group === undefined) return;
    this.receivers.delete(watcher);
    this.ids.delete(watcher);
    group.watchers.delete(watcher);
    const { term } = group;
    const known = term && this.terms.get(term.id);
    if (known === undefined) this.stopWaiting(watcher);
    known?.watchers.delete(watcher);
    if (group.watchers.size === 0) this.groups.delete(id);
    if (term !== undefined && known?.watchers.size === 0) this.terms.delete(term.id);
  }

  /**
   * The number of watchers that a change of the object would reach; an empty name stands for no object. All watchers of
   * an indexed label or field count as one: a change reaches only those that select its value.
   */
  concernedBy(key: StorageKey): number {
    let count = this.terms.size;
    for (const id of idsOf(key)) count += this.groups.get(id)?.watchers.size ?? 0;
    return count;
  }

  /** Every watcher at this moment. */
  all(): CacheWatcher[] {
    return [...this.ids.keys()];
  }

  /** Offers changes to the watchers they concern. */
  offer(changes: readonly Change[], position: bigint): Offered {
    const slow: CacheWatcher[] = [];
    const due: CacheWatcher[] = [];
    for (const { group, concerned } of this.concerned(changes)) {
      const batch = sizedBatch(concerned, position);
      // Iterates over a copy, because a watcher may leave as soon as it receives changes.
      for (const watcher of [...group.watchers]) {
        const taken = watcher.offer(batch);
        if (taken === 'due') due.push(watcher);
        else if (taken === 'slow') slow.push(watcher);
      }
    }
    return { slow, due };
  }

  private concerned(changes: readonly Change[]): { group: Group; concerned: readonly Change[] }[] {
    const found: { group: Group; concerned: readonly Change[] }[] = [];
    if (this.groups.size <= FEW_GROUPS) {
      for (const group of this.groups.values()) {
        const { scope } = group;
        const everything = scope.namespace === undefined && scope.name === undefined;
        const concerned = everything ? changes : changes.filter(({ key }) => concerns(scope, key));
        if (concerned.length > 0) found.push({ group, concerned });
      }
      return found;
    }
    // Nodes watch single objects, and the pods of one node, by the thousand. So each change looks up its watchers
    // instead of checking group by group.
    const touched = new Set<Group>();
    const touch = (group: Group | undefined, change: Change) => {
      // Both states of an object may belong to the same group.
      if (group === undefined || group.pending.at(-1) === change) return;
      touched.add(group);
      group.pending.push(change);
    };
    for (const change of changes) {
      for (const id of idsOf(change.key)) touch(this.groups.get(id), change);
      for (const term of this.termsOf(change)) {
        for (const id of idsOf(change.key, term)) touch(this.groups.get(id), change);
      }
    }
    for (const group of touched) {
      found.push({ group, concerned: group.pending });
      group.pending = [];
    }
    return found;
  }

  /** The values of indexed terms that the object has before or after the change. */
  private *termsOf(change: Change): Generator<Term> {
    for (const [id, { source }] of this.terms) {
      const { after, before } = attributesOfChange(change, source);
      const value = indexedValue(id, after);
      if (value !== undefined) yield { source, id, value };
      const earlier = before && indexedValue(id, before);
      if (earlier !== undefined && earlier !== value) yield { source, id, value: earlier };
    }
  }

  private hasPlace({ id, source }: Term): boolean {
    const known = this.terms.get(id);
    return known === undefined ? this.terms.size < MOST_TERMS : known.source === source;
  }

  /** The watcher receives all changes of its scope until enough other watchers select by the same term. */
  private wait(watcher: CacheWatcher, id: string): void {
    let waiting = this.waiting.get(id);
    if (waiting === undefined) {
      waiting = new Set();
      this.waiting.set(id, waiting);
    }
    waiting.add(watcher);
    const [fewest] = [...this.terms].sort(([, a], [, b]) => a.watchers.size - b.watchers.size);
    if (fewest === undefined || this.terms.has(id) || waiting.size <= TIMES_MORE * fewest[1].watchers.size) return;
    const moved = [...waiting, ...fewest[1].watchers];
    for (const one of moved) this.delete(one);
    for (const one of moved) this.add(one);
  }

  private stopWaiting(watcher: CacheWatcher): void {
    for (const { id } of wantedTerms(watcher.scope)) {
      const waiting = this.waiting.get(id);
      if (waiting?.delete(watcher) === true && waiting.size === 0) this.waiting.delete(id);
    }
  }
}

/** The terms by which a watcher could be found: its selection requires one value for each. */
function wantedTerms({ select }: WatchScope): Term[] {
  if (select === undefined) return [];
  const { source } = select;
  return termsOf(select).flatMap(({ id, values: [value, ...others] }) =>
    value === undefined || others.length > 0 ? [] : [{ source, id, value }],
  );
}

/** The groups that a key belongs to: all objects, a namespace, a name anywhere, this object. */
function* idsOf({ namespace, name }: StorageKey, term?: Term): Generator<string> {
  yield groupId(undefined, undefined, term);
  yield groupId(namespace, undefined, term);
  yield groupId(undefined, name, term);
  yield groupId(namespace, name, term);
}

/**
 * Clients may send any namespace and name, even with characters that no object's name has; the lengths make the parts
 * unambiguous.
 */
function groupId(namespace: string | undefined, name: string | undefined, term: Term | undefined): string {
  const place = `${namespace?.length ?? ''}/${name?.length ?? ''}/${namespace ?? ''}${name ?? ''}`;
  return term === undefined ? place : `${place}${PART}${term.id}${PART}${term.value}`;
}
