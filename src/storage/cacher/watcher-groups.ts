import type { Change, Scope, StorageKey } from '../storage.interface.js';
import { type CacheWatcher, sizedBatch } from './cache-watcher.js';
import { concerns } from './watch-cache.js';

interface Group {
  readonly scope: Scope;
  readonly watchers: Set<CacheWatcher>;
  pending: Change[];
}

/** Stands for "any" in the id of a group; no key can contain it. */
const ANY = '\u0000';

/** The live watchers of a resource by scope. Changes are filtered once per scope instead of once per watcher. */
export class WatcherGroups {
  private readonly groups = new Map<string, Group>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  add(watcher: CacheWatcher): void {
    const id = groupId(watcher.scope.namespace, watcher.scope.name);
    let group = this.groups.get(id);
    if (group === undefined) {
      group = { scope: watcher.scope, watchers: new Set(), pending: [] };
      this.groups.set(id, group);
    }
    if (group.watchers.has(watcher)) return;
    group.watchers.add(watcher);
    this.count += 1;
  }

  delete(watcher: CacheWatcher): void {
    const id = groupId(watcher.scope.namespace, watcher.scope.name);
    const group = this.groups.get(id);
    if (group === undefined || !group.watchers.delete(watcher)) return;
    this.count -= 1;
    if (group.watchers.size === 0) this.groups.delete(id);
  }

  /** How many watchers a change of the object concerns; an empty name is that of no object. */
  concernedBy(key: StorageKey): number {
    let count = 0;
    for (const group of this.groupsOf(key)) count += group.watchers.size;
    return count;
  }

  /** Every watcher at this moment. */
  all(): CacheWatcher[] {
    return [...this.groups.values()].flatMap((group) => [...group.watchers]);
  }

  /** Hands changes to the watchers they concern; returns those whose buffers are now too full. */
  offer(changes: readonly Change[], position: bigint): CacheWatcher[] {
    const slow: CacheWatcher[] = [];
    for (const { group, concerned } of this.concerned(changes)) {
      const batch = sizedBatch(concerned, position);
      // A copy, because a watcher may leave as soon as it gets changes.
      for (const watcher of [...group.watchers]) if (!watcher.offer(batch)) slow.push(watcher);
    }
    return slow;
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
    // Nodes watch single objects by the thousand. So each change looks up its watchers, and groups are not asked one by
    // one.
    const touched = new Set<Group>();
    for (const change of changes) {
      for (const group of this.groupsOf(change.key)) {
        touched.add(group);
        group.pending.push(change);
      }
    }
    for (const group of touched) {
      found.push({ group, concerned: group.pending });
      group.pending = [];
    }
    return found;
  }

  private *groupsOf({ namespace, name }: StorageKey): Generator<Group> {
    for (const id of [groupId(undefined, undefined), groupId(namespace, undefined)]) {
      const group = this.groups.get(id);
      if (group !== undefined) yield group;
    }
    for (const id of [groupId(undefined, name), groupId(namespace, name)]) {
      const group = this.groups.get(id);
      if (group !== undefined) yield group;
    }
  }
}

const FEW_GROUPS = 8;

function groupId(namespace: string | undefined, name: string | undefined): string {
  return `${namespace ?? ANY}/${name ?? ANY}`;
}
