import { atOnce, eachInSteps, type Steps } from '../../../base/machinery/turns.js';
import type { ClusterRole, Role } from '../../../objects/apis/rbac/v1/role.types.js';
import type { Subject } from '../../../objects/apis/rbac/v1/role-binding.types.js';
import { type AnyBinding, CompiledBinding, WideSubjects, whoIs } from './compiled-binding.js';
import { CompiledRole } from './compiled-role.js';
import { Grant } from './grant.js';
import { PolicyMemory } from './policy-memory.js';
import { RoleSlot } from './role-slot.js';
import { ScopeGrants } from './scope-grants.js';

/** A role of either kind. */
export type AnyRole = Role | ClusterRole;
export type RoleKind = 'Role' | 'ClusterRole';

/** A compiled role and its place; the namespace is empty for cluster roles. */
export interface PlacedRole {
  readonly namespace: string;
  readonly name: string;
  /** Undefined if it finds no room in memory. */
  readonly role: CompiledRole | undefined;
}

/** A binding as it was indexed, kept so that it can be removed again. */
interface IndexedBinding {
  readonly scope: string;
  readonly slot: RoleSlot;
  readonly subjects: readonly Subject[] | WideSubjects;
}

const noSubjects: ReadonlySet<string> = new Set();

/**
 * Roles and bindings in memory, indexed for the question "which roles does this user have here?". The cost of a change
 * depends on the changed object only.
 *
 * What finds no room in memory is not in force: a role then allows nothing, and a binding gives nobody a role. Rules
 * only add permissions, so nothing is allowed that should not be.
 */
export class PolicyIndex {
  private readonly slots = new Map<string, RoleSlot>();
  private readonly bindings = new Map<string, IndexedBinding>();
  /** Grants by namespace; the empty name stands for the cluster. */
  private readonly scopes = new Map<string, ScopeGrants>();

  constructor(readonly memory = new PolicyMemory()) {}

  /** The grants of a namespace, or of the cluster for `''`; undefined when there are none. */
  scope(namespace: string): ScopeGrants | undefined {
    return this.scopes.get(namespace);
  }

  setRole(role: AnyRole, kind: RoleKind): void {
    atOnce(this.settingRole(role, kind));
  }

  /** Like {@link setRole}, but in steps. The previous rules stay in force until the last step. */
  *settingRole({ metadata, rules }: AnyRole, kind: RoleKind): Steps {
    const role = yield* CompiledRole.inSteps(rules ?? []);
    this.placeRole({ namespace: metadata.namespace ?? '', name: metadata.name ?? '', role }, kind);
  }

  /** The role without its content if there is no room for it: many may wait for a list to be complete. */
  admittedRole(placed: PlacedRole, kind: RoleKind): PlacedRole {
    const { namespace, name, role } = placed;
    const hasRoom = role !== undefined && this.memory.take(namespace, slotKey(kind, namespace, name), role.bytes);
    return hasRoom ? placed : { namespace, name, role: undefined };
  }

  placeRole(placed: PlacedRole, kind: RoleKind): void {
    const { role } = this.admittedRole(placed, kind);
    this.slotOf(kind, placed.namespace, placed.name).role = role ?? CompiledRole.none;
  }

  deleteRole(kind: RoleKind, namespace: string, name: string): void {
    const key = slotKey(kind, namespace, name);
    const slot = this.slots.get(key);
    if (slot === undefined) return;
    this.removeRole(key, namespace, slot);
  }

  setBinding(binding: AnyBinding): void {
    atOnce(this.settingBinding(binding));
  }

  /** Like {@link setBinding}, but in steps; see {@link placingBinding}. */
  *settingBinding(binding: AnyBinding): Steps {
    yield* this.placingBinding(yield* CompiledBinding.inSteps(binding));
  }

  /** Like {@link admittedRole}. */
  admittedBinding(binding: CompiledBinding): CompiledBinding {
    const { namespace, name } = binding.names.metadata;
    const hasRoom = binding.isWhole && this.memory.take(namespace, slotKey('', namespace, name), binding.bytes);
    return hasRoom ? binding : binding.withoutSubjects;
  }

  /** First adds the grants to all subjects, then removes them from subjects that are no longer listed. */
  *placingBinding(binding: CompiledBinding): Steps {
    const { names, subjects } = binding;
    const { name, namespace } = names.metadata;
    const key = slotKey('', namespace, name);
    if (!this.admittedBinding(binding).isWhole) {
      yield* this.deletingIndexed(key);
      return;
    }
    const before = this.bindings.get(key);
    const slot = this.slotOf(names.roleRef.kind, namespace, names.roleRef.name);
    slot.bindings++;
    const scope = this.scopeOf(namespace);
    const users = new Set<string>();
    const groups = new Set<string>();
    if (subjects instanceof WideSubjects) scope.addWide({ key, slot, names, subjects });
    else {
      yield* eachInSteps(subjects, (subject) => {
        const isGroup = subject.kind === 'Group';
        const who = whoIs(subject, namespace);
        const into = isGroup ? groups : users;
        if (who === undefined || into.has(who)) return;
        into.add(who);
        scope.add(isGroup, who, new Grant(key, slot, names, subject));
      });
    }
    this.bindings.set(key, { scope: namespace, slot, subjects });
    if (before !== undefined) yield* this.takingOut(key, before, { users, groups, subjects });
  }

  deleteBinding(namespace: string, name: string): void {
    atOnce(this.deletingBinding(namespace, name));
  }

  /** Like {@link deleteBinding}, but in steps. */
  *deletingBinding(namespace: string, name: string): Steps {
    const key = slotKey('', namespace, name);
    yield* this.deletingIndexed(key);
    this.memory.give(namespace, key);
  }

  private *deletingIndexed(key: string): Steps {
    const indexed = this.bindings.get(key);
    if (indexed === undefined) return;
    this.bindings.delete(key);
    yield* this.takingOut(key, indexed, { users: noSubjects, groups: noSubjects, subjects: [] });
  }

  /** Removes a binding from all subjects except those that it still has. */
  private *takingOut(
    key: string,
    { scope: namespace, slot, subjects }: IndexedBinding,
    kept: Pick<IndexedBinding, 'subjects'> & { users: ReadonlySet<string>; groups: ReadonlySet<string> },
  ): Steps {
    const scope = this.scopeOf(namespace);
    if (subjects instanceof WideSubjects) {
      // Another wide form has already replaced it.
      if (!(kept.subjects instanceof WideSubjects)) scope.removeWide(key);
    } else {
      yield* eachInSteps(subjects, (subject) => {
        const isGroup = subject.kind === 'Group';
        const who = whoIs(subject, namespace);
        if (who !== undefined && !(isGroup ? kept.groups : kept.users).has(who)) scope.remove(isGroup, who, key);
      });
    }
    if (scope.isEmpty) this.scopes.delete(namespace);
    slot.bindings--;
    if (slot.bindings === 0 && slot.role === undefined) this.slots.delete(slotKey(slot.kind, namespace, slot.name));
  }

  /** Replaces all roles of a kind; bindings keep their references. */
  *replacingRoles(roles: readonly PlacedRole[], kind: RoleKind): Steps {
    const kept = new Set(roles.map(({ namespace, name }) => slotKey(kind, namespace, name)));
    yield* eachInSteps(this.slots, ([key, slot]) => {
      if (slot.kind === kind && !kept.has(key)) this.removeRole(key, namespaceOf(key), slot);
    });
    for (const role of roles) {
      this.placeRole(role, kind);
      yield;
    }
  }

  /** Replaces all cluster-wide bindings, or all namespaced ones. */
  *replacingBindings(bindings: readonly CompiledBinding[], isNamespaced: boolean): Steps {
    const kept = new Set(bindings.map(({ names: { metadata } }) => slotKey('', metadata.namespace, metadata.name)));
    for (const [key, { scope }] of this.bindings) {
      if ((scope !== '') !== isNamespaced || kept.has(key)) continue;
      yield* this.deletingBinding(scope, key.slice(slotKey('', scope, '').length));
    }
    for (const binding of bindings) {
      yield* this.placingBinding(binding);
      yield;
    }
  }

  private removeRole(key: string, namespace: string, slot: RoleSlot): void {
    slot.role = undefined;
    if (slot.bindings === 0) this.slots.delete(key);
    this.memory.give(namespace, key);
  }

  private slotOf(kind: string, namespace: string, name: string): RoleSlot {
    const key = slotKey(kind, namespace, name);
    let slot = this.slots.get(key);
    if (slot === undefined) {
      slot = new RoleSlot(kind, name);
      this.slots.set(key, slot);
    }
    return slot;
  }

  private scopeOf(namespace: string): ScopeGrants {
    let scope = this.scopes.get(namespace);
    if (scope === undefined) {
      scope = new ScopeGrants();
      this.scopes.set(namespace, scope);
    }
    return scope;
  }
}

function slotKey(kind: string, namespace: string, name: string): string {
  // Names contain no slash. Cluster roles have no namespace, even when a binding in a namespace refers to them.
  return `${kind}/${kind === 'ClusterRole' ? '' : namespace}/${name}`;
}

function namespaceOf(key: string): string {
  return key.split('/')[1] as string;
}
