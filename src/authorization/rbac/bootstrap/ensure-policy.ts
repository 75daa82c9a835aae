import type { ClusterRole, Role } from '../../../apis/rbac/v1/role.types.js';
import type { ClusterRoleBinding, RoleBinding } from '../../../apis/rbac/v1/role-binding.types.js';
import type { ApiObject } from '../../../machinery/api-object.js';
import { serverContext } from '../../../machinery/internal-context.js';
import { cloneJson } from '../../../machinery/json/exact-numbers.js';
import type { RequestContext } from '../../../machinery/request-context.js';
import { decode } from '../../../machinery/schema/index.js';
import { StatusError } from '../../../machinery/status-error.js';
import { groupName, type VendorNames } from '../../../machinery/vendor.js';
import type { StoredServedResource } from '../../../registry/resource-registry.js';
import { parseStored } from '../../../registry/store/object-codec.js';
import type { ResourceStores } from '../../../registry/store/resource-stores.js';
import type { Store } from '../../../registry/store/store.js';
import { autoUpdateAnnotation, bootstrapPolicy } from './bootstrap-policy.js';
import { bindsAnotherRole, isOptedOut, reconciledBinding, reconciledRole } from './reconcile.js';

type PolicyObject = Role | ClusterRole | RoleBinding | ClusterRoleBinding;

/**
 * Creates the missing objects of the default policy, and adds missing parts to the others unless they opted out. Many
 * processes may start at once. Throws when the store can't be used.
 */
export async function ensureBootstrapPolicy(
  names: VendorNames,
  stores: ResourceStores,
  signal: AbortSignal,
): Promise<void> {
  const policy = bootstrapPolicy(names);
  const writer = new PolicyWriter(names, stores, signal);
  // Roles first: until its role exists, every denial would report the missing role of a binding.
  await Promise.all([writer.ensure('clusterroles', policy.clusterRoles), writer.ensure('roles', policy.roles)]);
  await Promise.all([
    writer.ensure('clusterrolebindings', policy.clusterRoleBindings),
    writer.ensure('rolebindings', policy.roleBindings),
  ]);
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

  async ensure(resourceName: string, wanted: readonly PolicyObject[]): Promise<void> {
    const store = this.stores.named(groupName('rbac', this.names), resourceName);
    const { resource } = store;
    const { items } = await store.list({});
    const present = new Map(items.map((item) => [keyOf(item.key), item]));
    // Concurrent writes reach the store in few batches.
    await Promise.all(
      wanted.map(async (object) => {
        const stored = present.get(keyOf(object.metadata));
        if (stored === undefined) await this.create(store, object);
        else await this.reconcile(store, object, parseStored(resource, stored) as ApiObject as PolicyObject);
      }),
    );
  }

  private async create(store: Store, wanted: PolicyObject): Promise<void> {
    try {
      await store.create(this.request, decoded(store.resource, wanted), { dryRun: false, validate: admitted });
    } catch (error) {
      // Another process was first. Its policy equals this one or will be reconciled at the next start.
      if (!isReason(error, 'AlreadyExists')) throw error;
    }
  }

  private async reconcile(store: Store, wanted: PolicyObject, live: PolicyObject): Promise<void> {
    if (isOptedOut(live, this.annotation)) return;
    if ('roleRef' in live && 'roleRef' in wanted && bindsAnotherRole(live, wanted)) {
      await this.replace(store, wanted, live);
      return;
    }
    if (this.change(live, wanted) === live) return;
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
  }

  /**
   * Replaces a binding, as its role can't be changed. Whoever bound another role took rights away or granted unintended
   * ones.
   */
  private async replace(store: Store, wanted: PolicyObject, live: PolicyObject): Promise<void> {
    const { name = '', namespace = '', uid } = live.metadata;
    try {
      await store.delete(this.request, namespace, name, { dryRun: false, preconditions: { uid } }, admitted);
    } catch (error) {
      if (!isReason(error, 'NotFound') && !isReason(error, 'Conflict')) throw error;
    }
    await this.create(store, wanted);
  }

  private change(live: PolicyObject, wanted: PolicyObject): PolicyObject {
    if ('roleRef' in live) return reconciledBinding(live, wanted as RoleBinding);
    return reconciledRole(live, wanted as ClusterRole);
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

function isReason(error: unknown, reason: string): boolean {
  return error instanceof StatusError && error.reason === reason;
}
