import type { ApiObject } from '../../../base/machinery/api-object.js';
import { type Authorizer, privilegedGroup, type RuleResolver } from '../../../base/machinery/authorizer.js';
import { formatGroupResource } from '../../../base/machinery/group-version.js';
import { ownValue } from '../../../base/machinery/own-value.js';
import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import type { RequestContext, UserInfo } from '../../../base/machinery/request-context.js';
import {
  badRequestError,
  forbiddenError,
  notFoundError,
  unauthorizedError,
} from '../../../base/machinery/status-error.js';
import { inTurns } from '../../../base/machinery/turns.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import {
  compactPermissions,
  formatList,
  formatPermission,
} from '../../../objects/apis/rbac/rules/format-permissions.js';
import {
  findingUncovered,
  type Permission,
  uncoveredPermissions,
} from '../../../objects/apis/rbac/rules/rule-cover.js';
import { TooManyPermissions } from '../../../objects/apis/rbac/rules/too-many-permissions.js';
import type { ClusterRole, PolicyRule, Role } from '../../../objects/apis/rbac/v1/role.types.js';
import type { RoleBinding, RoleRef } from '../../../objects/apis/rbac/v1/role-binding.types.js';
import { readStored, type StoredResources } from '../../../objects/registry/store/object-codec.js';
import type { Storage } from '../../../storage/storage.interface.js';

/** All permissions. A role with an aggregation rule requires them: it can collect any rule by label. */
const fullAuthority: readonly Permission[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];
/** The most missing permissions in a message, which people have to read. */
const maxShown = 500;

const roleResources: Readonly<Record<string, string>> = { Role: 'roles', ClusterRole: 'clusterroles' };

/** The dependencies of decisions about escalation. */
export interface EscalationContext {
  readonly names: VendorNames;
  readonly registry: StoredResources;
  readonly authorizer: Authorizer;
  readonly rules: RuleResolver;
  readonly storage: Pick<Storage, 'get'>;
}

/**
 * Nobody can grant more than they have (specification 5.4). To write a role, a user must hold all of its rules already
 * or have the verb `escalate` on it. To write a binding, a user must hold all rules of the bound role or have the verb
 * `bind` on it. Every method throws a 403 that lists the missing permissions.
 */
export class EscalationGuard {
  private readonly group: string;

  constructor(private readonly context: EscalationContext) {
    this.group = groupName('rbac', context.names);
  }

  /** @param resource `roles` or `clusterroles` */
  async authorizeRole(
    request: RequestContext,
    resource: string,
    role: Role | ClusterRole,
    old: Role | ClusterRole | undefined,
  ): Promise<void> {
    const user = userOf(request);
    if (isPrivileged(user) || changesOnlyOwnership(role, old)) return;
    const { name = '', namespace = '' } = role.metadata;
    // A create by POST names no object yet, so rights on single names don't apply to it.
    const asked = { user, verb: 'escalate', namespace, resource, name: request.requestInfo.name };
    if (await this.isAllowed(asked, this.group)) return;
    await this.confirm(user, namespace, resource, name, role.rules ?? []);
    const aggregates = [role, old].some((one) => (one as ClusterRole | undefined)?.aggregationRule !== undefined);
    if (!aggregates) return;
    const held = await this.heldBy(user, namespace);
    if (uncoveredPermissions(held.permissions, fullAuthority).length > 0) {
      throw this.forbidden(resource, name, 'must have cluster-admin privileges to use the aggregationRule');
    }
  }

  /** @param resource `rolebindings` or `clusterrolebindings` */
  async authorizeBinding(
    request: RequestContext,
    resource: string,
    binding: RoleBinding,
    old: RoleBinding | undefined,
  ): Promise<void> {
    const user = userOf(request);
    if (isPrivileged(user) || changesOnlyOwnership(binding, old)) return;
    const { roleRef, metadata } = binding;
    const { name = '', namespace = '' } = metadata;
    const roleResource = ownValue(roleResources, roleRef.kind);
    // The rules of the kind refuse a binding to something else than a role.
    if (roleResource === undefined || roleRef.apiGroup !== this.group) return;
    const asked = { user, verb: 'bind', namespace, resource: roleResource, name: roleRef.name };
    if (await this.isAllowed(asked, roleRef.apiGroup)) return;
    if (roleRef.kind === 'Role' && namespace === '') throw badRequestError('Namespace parameter required.');
    if (!roleRef.name) throw badRequestError('Name parameter required.');
    const rules = await this.rulesOf(roleRef, roleResource, namespace);
    // The answer is about the resource of the request, with the name of the role.
    if (rules === undefined) throw notFoundError({ group: this.group, resource }, roleRef.name);
    await this.confirm(user, namespace, resource, name, rules);
  }

  private async isAllowed(
    asked: { user: UserInfo; verb: string; namespace: string; resource: string; name: string },
    apiGroup: string,
  ): Promise<boolean> {
    const { decision } = await this.context.authorizer.authorize({
      ...asked,
      apiGroup,
      apiVersion: '*',
      subresource: '',
      isResourceRequest: true,
      path: '',
    });
    return decision === 'allow';
  }

  /** The current rules in the store, so that a very recent change counts; undefined without such a role. */
  private async rulesOf(
    { kind, name }: RoleRef,
    resource: string,
    namespace: string,
  ): Promise<PolicyRule[] | undefined> {
    const gr = { group: this.group, resource };
    const key = { resource: formatGroupResource(gr), namespace: kind === 'Role' ? namespace : '', name };
    const found = await this.context.storage.get(key);
    if (found === undefined) return undefined;
    return ((await readStored(this.context.registry, found)) as Role & ApiObject).rules ?? [];
  }

  private async heldBy(user: UserInfo, namespace: string): Promise<{ permissions: Permission[]; error: string }> {
    const rules = await this.context.rules.rulesFor(user, namespace);
    return { permissions: [...rules.resourceRules, ...rules.nonResourceRules], error: rules.evaluationError };
  }

  private async confirm(
    user: UserInfo,
    namespace: string,
    resource: string,
    name: string,
    rules: readonly PolicyRule[],
  ): Promise<void> {
    const held = await this.heldBy(user, namespace);
    const missing = await missingTexts(held.permissions, rules);
    if (missing.length === 0) return;
    const shown = missing.slice(0, maxShown);
    if (missing.length > maxShown) shown.push(`and ${missing.length - maxShown} more`);
    const who = `user ${JSON.stringify(user.name)} (groups=${formatList(user.groups)})`;
    const tail = held.error === '' ? '' : `; resolution errors: [${this.withResource(held.error, resource)}]`;
    const detail = `${who} is attempting to grant RBAC permissions not currently held:\n${shown.join('\n')}${tail}`;
    throw this.forbidden(resource, name, detail);
  }

  /** Replaces the kinds of missing roles in a module's error by the resource that is written. */
  private withResource(error: string, resource: string): string {
    const suffix = `.${this.group} `;
    return error.replaceAll(`clusterrole${suffix}`, resource + suffix).replaceAll(`role${suffix}`, resource + suffix);
  }

  private forbidden(resource: string, name: string, detail: string): Error {
    return forbiddenError({ group: this.group, resource }, name, detail);
  }
}

async function missingTexts(held: readonly Permission[], rules: readonly PolicyRule[]): Promise<string[]> {
  try {
    const missing = compactPermissions(await inTurns(findingUncovered(held, rules)));
    return [...new Set(missing.map(formatPermission))].sort();
  } catch (error) {
    if (error instanceof TooManyPermissions) return [error.message];
    throw error;
  }
}

function userOf({ user }: RequestContext): UserInfo {
  if (user === undefined) throw unauthorizedError();
  return user;
}

function isPrivileged({ groups }: UserInfo): boolean {
  return groups.includes(privilegedGroup);
}

/**
 * Whether a write changes only finalizers and owners, as those of the garbage collector do, whatever the object grants.
 */
function changesOnlyOwnership(object: Role | RoleBinding, old: Role | RoleBinding | undefined): boolean {
  return old !== undefined && deepEqual(withoutOwnership(object), withoutOwnership(old));
}

function withoutOwnership(object: Role | RoleBinding): unknown {
  const { metadata, ...rest } = object as unknown as ApiObject;
  const { finalizers, ownerReferences, managedFields, resourceVersion, ...kept } = metadata;
  return { ...rest, metadata: kept };
}
