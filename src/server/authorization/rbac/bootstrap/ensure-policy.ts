import type { ApiObject } from '../../../../base/machinery/api-object.js';
import { serverContext } from '../../../../base/machinery/internal-context.js';
import { cloneJson } from '../../../../base/machinery/json/exact-numbers.js';
import type { RequestContext } from '../../../../base/machinery/request-context.js';
import { decode } from '../../../../base/machinery/schema/index.js';
import { StatusError } from '../../../../base/machinery/status-error.js';
import { groupName, type VendorNames } from '../../../../base/machinery/vendor.js';
import type { ClusterRole, Role } from '../../../../objects/apis/rbac/v1/role.types.js';
import type { ClusterRoleBinding, RoleBinding } from '../../../../objects/apis/rbac/v1/role-binding.types.js';
import type { StoredServedResource } from '../../../../objects/registry/resource-registry.js';
import { parseStored } from '../../../../objects/registry/store/object-codec.js';
import type { ResourceStores } from '../../../../objects/registry/store/resource-stores.js';
import type { Store } from '../../../../objects/registry/store/store.js';
import { autoUpdateAnnotation, bootstrapPolicy } from './bootstrap-policy.js';
import { bindsAnotherRole, isOptedOut, reconciledBinding, reconciledRole } from './reconcile.js';
import { withoutRetired } from './retired-rules.js';

type PolicyObject = Role | ClusterRole | RoleBinding | ClusterRoleBinding;

/** The resources that belong to the policy. */
export type PolicyResource = 'roles' | 'clusterroles' | 'rolebindings' | 'clusterrolebindings';

/**
 * Creates the missing objects of the default policy. Adds missing parts to existing objects, and removes excess rights
 * that former releases granted, unless an object opted out. Many processes may start at once. Throws when the store
 * can't be used.
 *
 * @returns the version of the newest object of each resource of the policy: a reader that has seen these has the whole
 * policy
 */
export async function ensureBootstrapPolicy(
  names: VendorNames,
  stores: ResourceStores,
  signal: AbortSignal,
): Promise<ReadonlyMap<PolicyResource, bigint>> {
  const policy = bootstrapPolicy(names);
  const writer = new PolicyWriter(names, stores, signal);
  // Roles come first: until its role exists, every denial would report the missing role of a binding.
  const ensure = async (resource: PolicyResource, wanted: readonly PolicyObject[]) =>
    [resource, await writer.ensure(resource, wanted)] as const;
  const roles = await Promise.all([ensure('clusterroles', policy.clusterRoles), ensure('roles', policy.roles)]);
  const bindings = await Promise.all([
    ensure('clusterrolebindings', policy.clusterRoleBindings),
    ensure('rolebindings', policy.roleBindings),
  ]);
  return new Map([...roles, ...bindings]);
}

const admitted = () => Promise.resolve();

class PolicyWriter {
  private readonly request: RequestContext;
  private readonly annotation: string;

  constructor(
    private readonly names: VendorNames,
    private readonly stores: ResourceStores,
    signal: AbortSignal,
  ) {
    this.annotation = autoUpdateAnnotation(names);
    this.request = serverContext(stores.clock.now(), signal);
  }

  /** Resolves with the version of the newest object, or 0 if there is none. */
  async ensure(resourceName: PolicyResource, wanted: readonly PolicyObject[]): Promise<bigint> {
    const store = this.stores.owning(groupName('rbac', this.names), resourceName, this.names.fieldManagers.server);
    const { resource } = store;
    const { items } = await store.list({});
    const present = new Map(items.map((item) => [keyOf(item.key), item]));
    // Concurrent writes reach the store in few batches.
    const writes = await Promise.all(
      wanted.map(async (object) => {
        const stored = present.get(keyOf(object.metadata));
        if (stored !== undefined)
          return this.reconcile(store, object, parseStored(resource, stored) as ApiObject as PolicyObject);
        await this.create(store, object);
        return true;
      }),
    );
    return newestOf(writes.includes(true) ? (await store.list({})).items : items);
  }

  private async create(store: Store, wanted: PolicyObject): Promise<void> {
    try {
      await store.create(this.request, decoded(store.resource, wanted), { dryRun: false, validate: admitted });
    } catch (error) {
      // Another process was faster. Its policy equals this one, or is reconciled at the next start.
      if (!isReason(error, 'AlreadyExists')) throw error;
    }
  }

  /** Resolves with true if it wrote anything. */
  private async reconcile(store: Store, wanted: PolicyObject, live: PolicyObject): Promise<boolean> {
    if (isOptedOut(live, this.annotation)) return false;
    if ('roleRef' in live && 'roleRef' in wanted && bindsAnotherRole(live, wanted)) {
      await this.replace(store, wanted, live);
      return true;
    }
    if (this.change(live, wanted) === live) return false;
    const { name = '', namespace = '' } = wanted.metadata;
    try {
      await store.update(this.request, namespace, name, {
        dryRun: false,
        validate: admitted,
        transform: (current) => {
          if (current === undefined) return decoded(store.resource, wanted);
          const object = cloneJson(current) as ApiObject as PolicyObject;
          return (isOptedOut(object, this.annotation) ? object : this.change(object, wanted)) as ApiObject;
        },
      });
    } catch (error) {
      // Another process has just created it again.
      if (!isReason(error, 'Invalid')) throw error;
    }
    return true;
  }

  /**
   * Replaces a binding, as its role can't be changed. With the wrong role, the binding lacked rights or granted
   * unintended ones.
   */
  private async replace(store: Store, wanted: PolicyObject, live: PolicyObject): Promise<void> {
    const { name = '', namespace = '', uid } = live.metadata;
    try {
      await store.delete(this.request, namespace, name, { dryRun: false, preconditions: { uid }, validate: admitted });
    } catch (error) {
      if (!isReason(error, 'NotFound') && !isReason(error, 'Conflict')) throw error;
    }
    await this.create(store, wanted);
  }

  private change(live: PolicyObject, wanted: PolicyObject): PolicyObject {
    if ('roleRef' in live) return reconciledBinding(live, wanted as RoleBinding);
    return reconciledRole(withoutRetired(live, this.names), wanted as ClusterRole);
  }
}

function decoded({ served, definition }: StoredServedResource, wanted: PolicyObject): ApiObject {
  const object = decode(served.type, cloneJson(wanted)).value as ApiObject;
  definition.strategy.applyDefaults?.(object);
  return object;
}

function keyOf({ name = '', namespace = '' }: { readonly name?: string; readonly namespace?: string }): string {
  return `${namespace}/${name}`;
}

function newestOf(items: readonly { readonly resourceVersion: bigint }[]): bigint {
  return items.reduce((newest, { resourceVersion }) => (resourceVersion > newest ? resourceVersion : newest), 0n);
}

function isReason(error: unknown, reason: string): boolean {
  return error instanceof StatusError && error.reason === reason;
}
