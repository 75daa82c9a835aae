import type { Clock } from '../../../base/machinery/clock.js';
import { kind } from '../../../base/machinery/schema/index.js';
import { StatusError } from '../../../base/machinery/status-error.js';
import type { CustomResourceDefinition } from '../../../objects/apis/apiextensions/v1/custom-resource-definition.types.js';
import { defineResource } from '../../../objects/registry/resource-definition.js';
import { ResourceRegistry, type StoredServedResource } from '../../../objects/registry/resource-registry.js';
import { Store } from '../../../objects/registry/store/store.js';
import { mostPageBytes } from '../../../storage/page-size.js';
import type { Storage, StoredObject } from '../../../storage/storage.interface.js';
import { workContext } from '../work-context.js';

const pageSize = 500;
const deleteWorkers = 16;

/** What remained after a pass over the objects of a kind. */
export interface InstancesReport {
  /** Objects that remain because of their finalizers. */
  readonly left: number;
  readonly errors: readonly Error[];
}

/**
 * The objects of a custom kind whose definition is being deleted. Only their metadata is read: they are deleted
 * whatever the state of their schema, their versions and their conversion.
 */
export class Instances {
  private readonly stores = new Map<string, Store>();
  /** Storage name of the kind. */
  readonly resource: string;

  constructor(
    private readonly definition: CustomResourceDefinition,
    private readonly storage: Storage,
    private readonly clock: Clock,
    private readonly loop: string,
  ) {
    this.resource = `${definition.spec.names.plural}.${definition.spec.group}`;
  }

  /** Requests the deletion of every object in every namespace. */
  async delete(signal: AbortSignal): Promise<InstancesReport> {
    let left = 0;
    const errors: Error[] = [];
    let after: { namespace: string; name: string } | undefined;
    while (!signal.aborted) {
      const page = await this.storage.list({
        resource: this.resource,
        after,
        limit: pageSize,
        pageBytes: mostPageBytes,
      });
      let next = 0;
      const worker = async () => {
        for (let item = page.items[next++]; item !== undefined && !signal.aborted; item = page.items[next++]) {
          try {
            if (!(await this.deleteOne(item, signal))) left++;
          } catch (error) {
            errors.push(error instanceof Error ? error : new Error(String(error)));
          }
        }
      };
      await Promise.all(Array.from({ length: Math.min(deleteWorkers, page.items.length) }, worker));
      const last = page.items.at(-1);
      if (last === undefined || !page.more) break;
      after = { namespace: last.key.namespace, name: last.key.name };
    }
    return { left, errors };
  }

  /** Deletes one object; returns whether it is gone. */
  private async deleteOne(stored: StoredObject, signal: AbortSignal): Promise<boolean> {
    const { key, uid } = stored;
    const context = workContext(this.loop, this.clock.now(), signal);
    const options = {
      propagationPolicy: 'Background',
      preconditions: { uid },
      dryRun: false,
      validate: nothing,
    } as const;
    try {
      const { removed } = await this.storeFor(stored).delete(context, key.namespace, key.name, options);
      return removed;
    } catch (error) {
      if (error instanceof StatusError && error.reason === 'NotFound') return true;
      throw error;
    }
  }

  /** A store that changes nothing but metadata. An object keeps the version that it was stored in. */
  private storeFor({ json }: StoredObject): Store {
    const { group, scope, names } = this.definition.spec;
    const version = storedVersion.exec(json)?.[1] ?? 'v1';
    let store = this.stores.get(version);
    if (store === undefined) {
      const namespaced = scope === 'Namespaced';
      const type = kind({ group, version, kind: names.kind, scope: namespaced ? 'Namespaced' : 'Cluster' }, {});
      const registry = new ResourceRegistry();
      registry.register(
        defineResource({
          group,
          resource: names.plural,
          singular: names.singular ?? names.plural,
          kind: names.kind,
          namespaced,
          versions: [{ version, type }],
          strategy: {},
          storedForm: { mark: '', complete: (object) => object },
        }),
      );
      const resource = registry.findStoredResource(group, version, names.plural) as StoredServedResource;
      store = new Store(resource, this.storage, this.clock);
      this.stores.set(version, store);
    }
    return store;
  }
}

/** The version in the first bytes of stored JSON, in which kind and apiVersion come first. */
const storedVersion = /^\{\s*"kind":"[^"]*","apiVersion":"[^"/]*\/([^"]*)"/;

/** No admission: nobody may keep the objects of a kind that is being removed. */
const nothing = (): Promise<void> => Promise.resolve();
