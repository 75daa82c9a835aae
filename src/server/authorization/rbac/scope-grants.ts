import { PackedStrings } from '../../../base/machinery/packed/packed-strings.js';
import type { UserInfo } from '../../../base/machinery/request-context.js';
import type { BindingNames, WideSubjects } from './compiled-binding.js';
import { Grant } from './grant.js';
import type { RoleSlot } from './role-slot.js';

/** A binding with so many subjects that they are not part of the index by subject. */
export interface WideBinding {
  readonly key: string;
  readonly slot: RoleSlot;
  readonly names: BindingNames;
  readonly subjects: WideSubjects;
}

const noGrants: readonly Grant[] = [];
/** Users and groups whose grants from wide bindings are remembered: one decision needs those of a user several times. */
const mostRecent = 16;

/**
 * The grants of one scope (the cluster or one namespace), by subject. Service accounts are indexed by their user names.
 * The grants of a subject are sorted by binding name, so every process gives the same decision for the same reason.
 */
export class ScopeGrants {
  private readonly users = new Map<string, Grant[]>();
  private readonly groups = new Map<string, Grant[]>();
  /** Sorted by key. */
  private readonly wide: WideBinding[] = [];
  /** Grants of users and groups, with those from wide bindings. Empty after each change. */
  private readonly recent = new Map<string, readonly Grant[]>();

  get isEmpty(): boolean {
    return this.users.size === 0 && this.groups.size === 0 && this.wide.length === 0;
  }

  ofUser(name: string): readonly Grant[] {
    const grants = this.users.get(name) ?? noGrants;
    return this.wide.length === 0 ? grants : this.withWide(grants, name, 'user');
  }

  ofGroup(name: string): readonly Grant[] {
    const grants = this.groups.get(name) ?? noGrants;
    return this.wide.length === 0 ? grants : this.withWide(grants, name, 'group');
  }

  /** Calls `visit` for every grant of the user, starting with those for its name. */
  visit(user: UserInfo, visit: (grant: Grant) => void): void {
    for (const grant of this.ofUser(user.name)) visit(grant);
    for (const group of user.groups) for (const grant of this.ofGroup(group)) visit(grant);
  }

  add(isGroup: boolean, who: string, grant: Grant): void {
    this.recent.clear();
    const map = isGroup ? this.groups : this.users;
    const grants = map.get(who);
    if (grants === undefined) map.set(who, [grant]);
    else put(grants, grant);
  }

  remove(isGroup: boolean, who: string, key: string): void {
    this.recent.clear();
    const map = isGroup ? this.groups : this.users;
    const grants = map.get(who);
    if (grants === undefined) return;
    takeOut(grants, key);
    if (grants.length === 0) map.delete(who);
  }

  /** Replaces the wide binding with the same key. */
  addWide(binding: WideBinding): void {
    this.recent.clear();
    put(this.wide, binding);
  }

  removeWide(key: string): void {
    this.recent.clear();
    takeOut(this.wide, key);
  }

  private withWide(grants: readonly Grant[], who: string, kind: 'user' | 'group'): readonly Grant[] {
    const known = this.recent.get(`${kind}:${who}`);
    if (known !== undefined) return known;
    const found = this.foundIn(grants, who, kind);
    if (this.recent.size >= mostRecent) this.recent.clear();
    this.recent.set(`${kind}:${who}`, found);
    return found;
  }

  private foundIn(grants: readonly Grant[], who: string, kind: 'user' | 'group'): readonly Grant[] {
    const hash = PackedStrings.hash(who);
    let all: Grant[] | undefined;
    for (const { key, slot, names, subjects } of this.wide) {
      const subject = subjects[kind](who, hash);
      if (subject === undefined) continue;
      all ??= [...grants];
      all.push(new Grant(key, slot, names, subject));
    }
    return all?.sort((a, b) => (a.key < b.key ? -1 : 1)) ?? grants;
  }
}

interface Keyed {
  readonly key: string;
}

function put<T extends Keyed>(sorted: T[], one: T): void {
  const at = position(sorted, one.key);
  sorted.splice(at, sorted[at]?.key === one.key ? 1 : 0, one);
}

function takeOut(sorted: Keyed[], key: string): void {
  const at = position(sorted, key);
  if (sorted[at]?.key === key) sorted.splice(at, 1);
}

/** The index at which the key is or would be inserted. */
function position(sorted: readonly Keyed[], key: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as Keyed).key < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
