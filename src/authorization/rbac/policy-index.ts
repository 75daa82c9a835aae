import type { ClusterRole, Role } from '../../apis/rbac/v1/role.types.js';
import type { ClusterRoleBinding, RoleBinding, Subject } from '../../apis/rbac/v1/role-binding.types.js';
import type { AuthorizationDecision } from '../../machinery/authorizer.js';
import type { UserInfo } from '../../machinery/request-context.js';
import { CompiledRole } from './compiled-role.js';

type AnyBinding = RoleBinding | ClusterRoleBinding;
type AnyRole = Role | ClusterRole;

/** The role that bindings refer to; there as long as it exists or some binding names it. */
export class RoleSlot {
  role: CompiledRole | undefined;
  bindings = 0;

  constructor(
    readonly kind: string,
    readonly name: string,
  ) {}
}

/** What one subject gets from one binding. */
export class Grant {
  private allowed: AuthorizationDecision | undefined;

  constructor(
    readonly key: string,
    readonly slot: RoleSlot,
    private readonly text: string,
  ) {}

  /** The decision that this grant leads to; the text says why, as clients know it. */
  get decision(): AuthorizationDecision {
    this.allowed ??= Object.freeze({ decision: 'allow', reason: `RBAC: allowed by ${this.text}` } as const);
    return this.allowed;
  }
}

const noGrants: readonly Grant[] = [];

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
  readonly users: readonly string[];
  readonly groups: readonly string[];
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

  setRole({ metadata, rules }: AnyRole, kind: 'Role' | 'ClusterRole'): void {
    this.slotOf(kind, metadata.namespace ?? '', metadata.name ?? '').role = new CompiledRole(rules ?? []);
  }

  deleteRole(kind: 'Role' | 'ClusterRole', namespace: string, name: string): void {
    const key = slotKey(kind, namespace, name);
    const slot = this.slots.get(key);
    if (slot === undefined) return;
    slot.role = undefined;
    if (slot.bindings === 0) this.slots.delete(key);
  }

  setBinding(binding: AnyBinding): void {
    const { name = '', namespace = '' } = binding.metadata;
    this.deleteBinding(namespace, name);
    const slot = this.slotOf(binding.roleRef.kind, namespace, binding.roleRef.name);
    slot.bindings++;
    const key = slotKey('', namespace, name);
    const users = new Set<string>();
    const groups = new Set<string>();
    for (const subject of binding.subjects ?? []) {
      const user = userOf(subject, namespace);
      const who = subject.kind === 'Group' ? subject.name : user;
      const into = subject.kind === 'Group' ? groups : users;
      if (who === undefined || into.has(who)) continue;
      into.add(who);
      const scope = this.scopeOf(namespace);
      insert(
        subject.kind === 'Group' ? scope.groups : scope.users,
        who,
        new Grant(key, slot, describe(binding, subject)),
      );
    }
    this.bindings.set(key, { scope: namespace, slot, users: [...users], groups: [...groups] });
  }

  deleteBinding(namespace: string, name: string): void {
    const key = slotKey('', namespace, name);
    const indexed = this.bindings.get(key);
    if (indexed === undefined) return;
    this.bindings.delete(key);
    const scope = this.scopes.get(indexed.scope);
    if (scope !== undefined) {
      for (const user of indexed.users) remove(scope.users, user, key);
      for (const group of indexed.groups) remove(scope.groups, group, key);
      if (scope.isEmpty) this.scopes.delete(indexed.scope);
    }
    indexed.slot.bindings--;
    const { kind, name: role } = indexed.slot;
    if (indexed.slot.bindings === 0 && indexed.slot.role === undefined)
      this.slots.delete(slotKey(kind, namespace, role));
  }

  /** Makes the roles of a kind those given; bindings keep what they refer to. */
  replaceRoles(roles: readonly AnyRole[], kind: 'Role' | 'ClusterRole'): void {
    const kept = new Set(roles.map(({ metadata }) => slotKey(kind, metadata.namespace ?? '', metadata.name ?? '')));
    for (const [key, slot] of this.slots) {
      if (slot.kind !== kind || kept.has(key)) continue;
      slot.role = undefined;
      if (slot.bindings === 0) this.slots.delete(key);
    }
    for (const role of roles) this.setRole(role, kind);
  }

  /** Makes the bindings those given: all cluster-wide ones, or all in namespaces. */
  replaceBindings(bindings: readonly AnyBinding[], isNamespaced: boolean): void {
    const kept = new Set(bindings.map(({ metadata }) => slotKey('', metadata.namespace ?? '', metadata.name ?? '')));
    for (const [key, { scope }] of this.bindings) {
      if ((scope !== '') !== isNamespaced || kept.has(key)) continue;
      this.deleteBinding(scope, key.slice(slotKey('', scope, '').length));
    }
    for (const binding of bindings) this.setBinding(binding);
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

function describe({ metadata, roleRef }: AnyBinding, subject: Subject): string {
  const { name = '', namespace = '' } = metadata;
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
  grants.splice(at, 0, grant);
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
