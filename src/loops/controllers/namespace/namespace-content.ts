import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Clock } from '../../../base/machinery/clock.js';
import type { RequestContext } from '../../../base/machinery/request-context.js';
import { StatusError } from '../../../base/machinery/status-error.js';
import { isStoredKind, verbsOf } from '../../../objects/registry/resource-definition.js';
import type { ResourceRegistry, StoredServedResource } from '../../../objects/registry/resource-registry.js';
import type { AdmittedStore, WriteAdmission } from '../../../objects/registry/store/admitted-store.js';
import { parseStored } from '../../../objects/registry/store/object-codec.js';
import { mostPageBytes } from '../../../storage/page-size.js';
import type { Storage, StoredObject } from '../../../storage/storage.interface.js';
import { workStore } from '../work-store.js';
import type { ContentReport } from './namespace-conditions.js';
import { NamespaceGone } from './namespace-gone.js';

const pageSize = 500;
const deleteWorkers = 32;
const podsResource = 'pods';

/** Deletes the objects in a namespace, each under the rules of its kind. */
export class NamespaceContent {
  private readonly stores = new WeakMap<StoredServedResource, AdmittedStore>();

  constructor(
    private readonly registry: ResourceRegistry,
    private readonly storage: Storage,
    private readonly clock: Clock,
    /** The context of a write at a time, in milliseconds since the epoch. */
    private readonly contextAt: (now: number, signal: AbortSignal) => RequestContext,
    private readonly admission: WriteAdmission,
  ) {}

  /**
   * Requests the deletion of everything in the namespace and reports what is left. Pods go first: network policies and
   * quotas, which restrict them, stay until the last pod has gone.
   *
   * @param isCurrent whether the intended namespace still exists and is terminating. It is called after each read of
   * the content, so nothing in a later namespace of the same name is deleted.
   * @param only storage names of the resources to check; all if unset.
   * @throws NamespaceGone when `isCurrent` returns false.
   */
  async delete(
    namespace: string,
    isCurrent: () => Promise<boolean>,
    only: ReadonlySet<string> | undefined,
    signal: AbortSignal,
  ): Promise<ContentReport & { readonly resources: ReadonlySet<string> }> {
    const report = new Report();
    for (const resource of this.resources()) {
      if (only !== undefined && !only.has(resource.storageResource)) continue;
      await this.deleteAll(resource, namespace, isCurrent, report, signal);
      if (signal.aborted) break;
      if (resource.storageResource === podsResource && report.remaining.size > 0) break;
    }
    return report;
  }

  /**
   * Every namespaced resource, each storage location once, pods first. Computed for each pass, since kinds may be added
   * at run time.
   */
  private resources(): StoredServedResource[] {
    const found = new Map<string, StoredServedResource>();
    const definitions = this.registry.definitions().filter(isStoredKind);
    // A resource stored under its own name stands for its aliases.
    for (const definition of definitions.toSorted(
      (a, b) => Number(a.storedAs !== undefined) - Number(b.storedAs !== undefined),
    )) {
      if (!definition.namespaced || !verbsOf(definition).includes('delete')) continue;
      const served = this.registry.findStoredResource(
        definition.group,
        definition.versions[0].version,
        definition.resource,
      );
      if (served !== undefined && !found.has(served.storageResource)) found.set(served.storageResource, served);
    }
    const isPods = (resource: StoredServedResource) => resource.storageResource === podsResource;
    return [...found.values()].sort((a, b) => Number(isPods(b)) - Number(isPods(a)));
  }

  private async deleteAll(
    resource: StoredServedResource,
    namespace: string,
    isCurrent: () => Promise<boolean>,
    report: Report,
    signal: AbortSignal,
  ): Promise<void> {
    const store = this.storeOf(resource);
    const { group, resource: plural } = resource.definition;
    let after: { namespace: string; name: string } | undefined;
    while (!signal.aborted) {
      const page = await this.storage.list({
        resource: resource.storageResource,
        namespace,
        after,
        limit: pageSize,
        pageBytes: mostPageBytes,
      });
      const last = page.items.at(-1);
      if (last === undefined) return;
      // The objects existed while the namespace was terminating. The uid protects later objects of the same name.
      if (!(await isCurrent())) throw new NamespaceGone();
      let next = 0;
      const worker = async () => {
        for (let item = page.items[next++]; item !== undefined && !signal.aborted; item = page.items[next++]) {
          const left = await this.deleteOne(store, item, report, signal);
          if (left !== undefined) report.add(resource.storageResource, `${plural}.${group}`, left);
        }
      };
      await Promise.all(Array.from({ length: Math.min(deleteWorkers, page.items.length) }, worker));
      if (!page.more) return;
      after = { namespace: last.key.namespace, name: last.key.name };
    }
  }

  /** Deletes one object. Returns the object if it still exists afterwards. */
  private async deleteOne(
    store: AdmittedStore,
    stored: StoredObject,
    report: Report,
    signal: AbortSignal,
  ): Promise<ApiObject | undefined> {
    const { key, uid } = stored;
    const context = this.contextAt(this.clock.now(), signal);
    const options = { propagationPolicy: 'Background', preconditions: { uid } } as const;
    try {
      const outcome = await store.delete(context, key.namespace, key.name, options, stored);
      return outcome.removed ? undefined : outcome.object;
    } catch (error) {
      if (error instanceof StatusError && error.reason === 'NotFound') return undefined;
      // Replaced by another object meanwhile: the next pass deals with that one.
      const isReplaced = error instanceof StatusError && error.reason === 'Conflict';
      if (!isReplaced) report.errors.push(error instanceof Error ? error : new Error(String(error)));
      return parseStored(store.resource, stored);
    }
  }

  private storeOf(resource: StoredServedResource): AdmittedStore {
    let store = this.stores.get(resource);
    if (store === undefined) {
      store = workStore(resource, { storage: this.storage, timers: this.clock, admission: this.admission });
      this.stores.set(resource, store);
    }
    return store;
  }
}

class Report implements ContentReport {
  readonly remaining = new Map<string, number>();
  readonly finalizers = new Map<string, number>();
  readonly errors: Error[] = [];
  /** Storage names of the resources in `remaining`. */
  readonly resources = new Set<string>();

  add(storageResource: string, name: string, object: ApiObject): void {
    this.resources.add(storageResource);
    increase(this.remaining, name);
    for (const finalizer of object.metadata.finalizers ?? []) increase(this.finalizers, finalizer);
  }
}

function increase(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
