import type { AuthorizationDecision } from '../../../base/machinery/authorizer.js';
import type { UserInfo } from '../../../base/machinery/request-context.js';
import { atOnce, eachInSteps, type Steps } from '../../../base/machinery/turns.js';
import type { ClusterRole, Role } from '../../../objects/apis/rbac/v1/role.types.js';
import type { ClusterRoleBinding, RoleBinding, Subject } from '../../../objects/apis/rbac/v1/role-binding.types.js';
import { CompiledRole } from './compiled-role.js';

/** A binding of either kind. */
export type AnyBinding = RoleBinding | ClusterRoleBinding;
/** A role of either kind. */
export type AnyRole = Role | ClusterRole;

/** A role that bindings refer to. It is kept as long as the role exists or a binding names it. */
export class RoleSlot {
  role: CompiledRole | undefined;
  bindings = 0;

  constructor(
    readonly kind: string,
    readonly name: string,
  ) {}
}

/** The parts of a binding that appear in a grant's reason. */
type BindingNames = Pick<AnyBinding, 'roleRef'> & {
  readonly metadata: { readonly name: string; readonly namespace: string };
};

/** The rights of one subject from one binding. */
export class Grant {
  private allowed: AuthorizationDecision | undefined;

  constructor(
    readonly key: string,
    readonly slot: RoleSlot,
    private readonly binding: BindingNames,
    private readonly subject: Subject,
  ) {}

  /** The decision of this grant. Its reason has the wording that clients know. */
  get decision(): AuthorizationDecision {
    if (this.allowed === undefined) {
      const reason = `RBAC: allowed by ${describe(this.binding, this.subject)}`;
      this.allowed = Object.freeze({ decision: 'allow', reason } as const);
    }
    return this.allowed;
  }
}

const noGrants: readonly Grant[] = [];
const noSubjects: ReadonlySet<string> = new Set();

/**
 * The grants of one scope (the cluster or one namespace), by subject. Service accounts are indexed by their user names.
 */
export class ScopeGrants {
  readonly users = new Map<string, Grant[]>();
  readonly groups = new Map<string, Grant[]>();

  get isEmpty(): boolean {
    return this.users.size === 0 && this.groups.size === 0;
  }

  /** Calls `visit` for every grant of the user, starting with those for its name. */
  visit(user: UserInfo, visit: (grant: Grant) => void): void {
    for (const grant of this.users.get(user.name) ?? noGrants) visit(grant);
    for (const group of user.groups) for (const grant of this.groups.get(group) ?? noGrants) visit(grant);
  }
}

/** A binding as it was indexed, kept so that it can be removed again. */
interface IndexedBinding {
  readonly scope: string;
  readonly slot: RoleSlot;
  readonly users: ReadonlySet<string>;
  readonly groups: ReadonlySet<string>;
}

/**
 * Roles and bindings in memory, indexed for the question "which roles does this user have here?". The cost of a change
 * depends on the changed object only. The grants of a subject are sorted by binding name, so every process gives the
 * same decision for the same reason.
 */
export class PolicyIndex {
  private readonly slots = new Map<string, RoleSlot>();
  private readonly bindings = new Map<string, IndexedBinding>();
  /** Grants by namespace; the empty name stands for the cluster. */
  private readonly scopes = new Map<string, ScopeGrants>();

  /** The grants of a namespace, or of the cluster for `''`; undefined when there are none. */
  scope(namespace: string): ScopeGrants | undefined {
    return this.scopes.get(namespace);
  }

  setRole(role: AnyRole, kind: 'Role' | 'ClusterRole'): void {
    atOnce(this.settingRole(role, kind));
  }

  /** Like {@link setRole}, but in steps. The previous rules stay in force until the last step. */
  *settingRole({ metadata, rules }: AnyRole, kind: 'Role' | 'ClusterRole'): Steps {
    const role = yield* CompiledRole.inSteps(rules ?? []);
    this.slotOf(kind, metadata.namespace ?? '', metadata.name ?? '').role = role;
  }

  deleteRole(kind: 'Role' | 'ClusterRole', namespace: string, name: string): void {
    const key = slotKey(kind, namespace, name);
    const slot = this.slots.get(key);
    if (slot === undefined) return;
    slot.role = undefined;
    if (slot.bindings === 0) this.slots.delete(key);
  }

  setBinding(binding: AnyBinding): void {
    atOnce(this.settingBinding(binding));
  }

  /**
   * Like {@link setBinding}, but in steps: first adds the grants to all subjects, then removes them from subjects that
   * are no longer listed.
   */
  *settingBinding(binding: AnyBinding): Steps {
    const { name = '', namespace = '' } = binding.metadata;
    const key = slotKey('', namespace, name);
    const before = this.bindings.get(key);
    const { roleRef } = binding;
    const slot = this.slotOf(roleRef.kind, namespace, roleRef.name);
    slot.bindings++;
    // Keeps only these fields instead of the whole object.
    const from = { metadata: { name, namespace }, roleRef };
    const users = new Set<string>();
    const groups = new Set<string>();
    yield* eachInSteps(binding.subjects ?? [], (subject) => {
      const who = subject.kind === 'Group' ? subject.name : userOf(subject, namespace);
      const into = subject.kind === 'Group' ? groups : users;
      if (who === undefined || into.has(who)) return;
      into.add(who);
      const scope = this.scopeOf(namespace);
      insert(subject.kind === 'Group' ? scope.groups : scope.users, who, new Grant(key, slot, from, subject));
    });
    this.bindings.set(key, { scope: namespace, slot, users, groups });
    if (before !== undefined) yield* this.takingOut(key, before, users, groups);
  }

  deleteBinding(namespace: string, name: string): void {
    atOnce(this.deletingBinding(namespace, name));
  }

  /** Like {@link deleteBinding}, but in steps. */
  *deletingBinding(namespace: string, name: string): Steps {
    const key = slotKey('', namespace, name);
    const indexed = this.bindings.get(key);
    if (indexed === undefined) return;
    this.bindings.delete(key);
    yield* this.takingOut(key, indexed, noSubjects, noSubjects);
  }

  /** Removes a binding from all subjects except those given. */
  private *takingOut(
    key: string,
    { scope: namespace, slot, users, groups }: IndexedBinding,
    keptUsers: ReadonlySet<string>,
    keptGroups: ReadonlySet<string>,
  ): Steps {
    const scope = this.scopes.get(namespace);
    if (scope !== undefined) {
      yield* eachInSteps(users, (user) => {
        if (!keptUsers.has(user)) remove(scope.users, user, key);
      });
      yield* eachInSteps(groups, (group) => {
        if (!keptGroups.has(group)) remove(scope.groups, group, key);
      });
      if (scope.isEmpty) this.scopes.delete(namespace);
    }
    slot.bindings--;
    if (slot.bindings === 0 && slot.role === undefined) this.slots.delete(slotKey(slot.kind, namespace, slot.name));
  }

  /** Replaces all roles of a kind; bindings keep their references. */
  *replacingRoles(roles: readonly AnyRole[], kind: 'Role' | 'ClusterRole'): Steps {
    const kept = new Set(roles.map(({ metadata }) => slotKey(kind, metadata.namespace ?? '', metadata.name ?? '')));
    yield* eachInSteps(this.slots, ([key, slot]) => {
      if (slot.kind !== kind || kept.has(key)) return;
      slot.role = undefined;
      if (slot.bindings === 0) this.slots.delete(key);
    });
    for (const role of roles) yield* this.settingRole(role, kind);
  }

  /** Replaces all cluster-wide bindings, or all namespaced ones. */
  *replacingBindings(bindings: readonly AnyBinding[], isNamespaced: boolean): Steps {
    const kept = new Set(bindings.map(({ metadata }) => slotKey('', metadata.namespace ?? '', metadata.name ?? '')));
    for (const [key, { scope }] of this.bindings) {
      if ((scope !== '') !== isNamespaced || kept.has(key)) continue;
      yield* this.deletingBinding(scope, key.slice(slotKey('', scope, '').length));
    }
    for (const binding of bindings) {
      yield* this.settingBinding(binding);
      yield;
    }
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

/** The user name that a User or ServiceAccount subject stands for. */
function userOf({ kind, name, namespace }: Subject, bindingNamespace: string): string | undefined {
  if (kind === 'User') return name;
  if (kind !== 'ServiceAccount') return undefined;
  const home = namespace === undefined || namespace === '' ? bindingNamespace : namespace;
  return home === '' ? undefined : `system:serviceaccount:${home}:${name}`;
}

function describe({ metadata, roleRef }: BindingNames, subject: Subject): string {
  const { name, namespace } = metadata;
  const quote = JSON.stringify;
  const binding =
    namespace === '' ? `ClusterRoleBinding ${quote(name)}` : `RoleBinding ${quote(`${name}/${namespace}`)}`;
  const home = subject.namespace === undefined || subject.namespace === '' ? namespace : subject.namespace;
  const who = subject.kind === 'ServiceAccount' ? `${subject.name}/${home}` : subject.name;
  return `${binding} of ${roleRef.kind} ${quote(roleRef.name)} to ${subject.kind} ${quote(who)}`;
}

function insert(map: Map<string, Grant[]>, who: string, grant: Grant): void {
  const grants = map.get(who);
  if (grants === undefined) {
    map.set(who, [grant]);
    return;
  }
  const at = position(grants, grant.key);
  grants.splice(at, grants[at]?.key === grant.key ? 1 : 0, grant);
}

function remove(map: Map<string, Grant[]>, who: string, key: string): void {
  const grants = map.get(who);
  if (grants === undefined) return;
  const at = position(grants, key);
  if (grants[at]?.key === key) grants.splice(at, 1);
  if (grants.length === 0) map.delete(who);
}

/** The index at which the key is or would be inserted. */
function position(grants: readonly Grant[], key: string): number {
  let low = 0;
  let high = grants.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((grants[middle] as Grant).key < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
