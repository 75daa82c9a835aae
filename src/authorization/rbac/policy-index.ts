import type { ClusterRole, Role } from '../../apis/rbac/v1/role.types.js';
import type { ClusterRoleBinding, RoleBinding, Subject } from '../../apis/rbac/v1/role-binding.types.js';
import type { AuthorizationDecision } from '../../machinery/authorizer.js';
import type { UserInfo } from '../../machinery/request-context.js';
import { atOnce, eachInSteps, type Steps } from '../../machinery/turns.js';
import { CompiledRole } from './compiled-role.js';

/** A binding of either kind. */
export type AnyBinding = RoleBinding | ClusterRoleBinding;
/** A role of either kind. */
export type AnyRole = Role | ClusterRole;

/** The role that bindings refer to; there as long as it exists or some binding names it. */
export class RoleSlot {
  role: CompiledRole | undefined;
  bindings = 0;

  constructor(
    readonly kind: string,
    readonly name: string,
  ) {}
}

/** What a grant says about the binding it comes from. */
type BindingNames = Pick<AnyBinding, 'roleRef'> & {
  readonly metadata: { readonly name: string; readonly namespace: string };
};

/** What one subject gets from one binding. */
export class Grant {
  private allowed: AuthorizationDecision | undefined;

  constructor(
    readonly key: string,
    readonly slot: RoleSlot,
    private readonly binding: BindingNames,
    private readonly subject: Subject,
  ) {}

  /** The decision that this grant leads to; the text says why, as clients know it. */
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

/** Grants of one scope (the cluster or one namespace) by who gets them. Service accounts are users by their name. */
export class ScopeGrants {
  readonly users = new Map<string, Grant[]>();
  readonly groups = new Map<string, Grant[]>();

  get isEmpty(): boolean {
    return this.users.size === 0 && this.groups.size === 0;
  }

  /** Calls `visit` for every grant of the user, those of its name first. */
  visit(user: UserInfo, visit: (grant: Grant) => void): void {
    for (const grant of this.users.get(user.name) ?? noGrants) visit(grant);
    for (const group of user.groups) for (const grant of this.groups.get(group) ?? noGrants) visit(grant);
  }
}

/** A binding as it was indexed, to be taken out again. */
interface IndexedBinding {
  readonly scope: string;
  readonly slot: RoleSlot;
  readonly users: ReadonlySet<string>;
  readonly groups: ReadonlySet<string>;
}

/**
 * Roles and bindings in memory, arranged for the question "which roles does this user have here?". Every change costs
 * in proportion to the object that changed. Grants of a subject are in the order of the names of their bindings, so
 * that every process gives the same answer for the same reason.
 */
export class PolicyIndex {
  private readonly slots = new Map<string, RoleSlot>();
  private readonly bindings = new Map<string, IndexedBinding>();
  /** By namespace; the empty one stands for the cluster. */
  private readonly scopes = new Map<string, ScopeGrants>();

  /** Undefined when nobody has anything in this scope; `''` is the cluster. */
  scope(namespace: string): ScopeGrants | undefined {
    return this.scopes.get(namespace);
  }

  setRole(role: AnyRole, kind: 'Role' | 'ClusterRole'): void {
    atOnce(this.settingRole(role, kind));
  }

  /** {@link setRole} in steps; what held before holds until the last of them. */
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

  /** {@link setBinding} in steps: first everybody gets what the binding grants, then it is taken from those it left out. */
  *settingBinding(binding: AnyBinding): Steps {
    const { name = '', namespace = '' } = binding.metadata;
    const key = slotKey('', namespace, name);
    const before = this.bindings.get(key);
    const { roleRef } = binding;
    const slot = this.slotOf(roleRef.kind, namespace, roleRef.name);
    slot.bindings++;
    // Not the object with all that it is made of.
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

  /** {@link deleteBinding} in steps. */
  *deletingBinding(namespace: string, name: string): Steps {
    const key = slotKey('', namespace, name);
    const indexed = this.bindings.get(key);
    if (indexed === undefined) return;
    this.bindings.delete(key);
    yield* this.takingOut(key, indexed, noSubjects, noSubjects);
  }

  /** Takes a binding from all subjects but those given. */
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

  /** Makes the roles of a kind those given; bindings keep what they refer to. */
  *replacingRoles(roles: readonly AnyRole[], kind: 'Role' | 'ClusterRole'): Steps {
    const kept = new Set(roles.map(({ metadata }) => slotKey(kind, metadata.namespace ?? '', metadata.name ?? '')));
    yield* eachInSteps(this.slots, ([key, slot]) => {
      if (slot.kind !== kind || kept.has(key)) return;
      slot.role = undefined;
      if (slot.bindings === 0) this.slots.delete(key);
    });
    for (const role of roles) yield* this.settingRole(role, kind);
  }

  /** Makes the bindings those given: all cluster-wide ones, or all in namespaces. */
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
  // A slash is in no name. Bindings in namespaces refer to cluster roles too, which have none.
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

/** Where the key is or would be. */
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
