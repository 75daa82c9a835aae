import type { ApiObject } from '../../src/base/machinery/api-object.js';
import type { RequestContext } from '../../src/base/machinery/request-context.js';
import { decode } from '../../src/base/machinery/schema/index.js';
import { notFoundError } from '../../src/base/machinery/status-error.js';
import { vendorNames } from '../../src/base/machinery/vendor.js';
import { namespaceResource } from '../../src/modules/core/namespace/namespace.resource.js';
import type { AllocatorDependencies } from '../../src/modules/core/service/allocation/service-allocator.js';
import { serviceResource } from '../../src/modules/core/service/service.resource.js';
import type { SystemDependencies } from '../../src/modules/core/system-objects.js';
import { coreEventResource } from '../../src/modules/events/event/event.resource.js';
import { type Service, service as serviceType } from '../../src/objects/apis/core/v1/service.types.js';
import { ResourceRegistry, type StoredServedResource } from '../../src/objects/registry/resource-registry.js';
import { ResourceStores } from '../../src/objects/registry/store/resource-stores.js';
import { Store } from '../../src/objects/registry/store/store.js';
import { createPostgresStorage, type PostgresStorage } from '../../src/storage/postgres/postgres-storage.js';
import {
  type PostgresStorageOptions,
  type StorageObserver,
  silentObserver,
} from '../../src/storage/postgres/postgres-storage-options.js';

export const names = vendorNames('k8s.io');
/** The resource under which allocations of addresses are stored. */
export const addressResource = 'ipaddresses.networking.k8s.io';
export const request = { requestInfo: { apiVersion: 'v1' }, warnings: [] } as unknown as RequestContext;

interface ProcessOptions extends Omit<PostgresStorageOptions, 'databaseUrl' | 'observer'> {
  /** Called when the outcome of a batch is unknown. */
  readonly onUnknownOutcome?: () => void;
}

/**
 * One server process with services only. All processes of a test share a database and a clock that the test controls.
 */
export class ServiceProcess {
  readonly context: AllocatorDependencies & SystemDependencies & { readonly registry: ResourceRegistry };
  private readonly store: Store;

  private constructor(
    readonly storage: PostgresStorage,
    time: { now: number },
    ranges: { addresses: string; ports: string },
  ) {
    const registry = new ResourceRegistry();
    const clock = { now: () => time.now };
    this.context = {
      registry,
      storage,
      clock,
      names,
      stores: new ResourceStores(registry, storage, clock),
      ranges: { serviceClusterIpRange: ranges.addresses, serviceNodePortRange: ranges.ports },
    };
    this.context.registry.register(serviceResource(this.context));
    this.context.registry.register(namespaceResource(names));
    this.context.registry.register(coreEventResource(names));
    const served = this.context.registry.findStoredResource('', 'v1', 'services') as StoredServedResource;
    this.store = new Store(served, storage, this.context.clock);
  }

  static async start(
    databaseUrl: string,
    time = { now: Date.now() },
    ranges = { addresses: '10.0.0.0/24', ports: '30000-30099' },
    { onUnknownOutcome, ...options }: ProcessOptions = {},
  ): Promise<ServiceProcess> {
    const observer: StorageObserver = {
      ...silentObserver,
      resolved: (outcome) => outcome === 'unknown' && onUnknownOutcome?.(),
    };
    return new ServiceProcess(await createPostgresStorage({ ...options, databaseUrl, observer }), time, ranges);
  }

  async create(name: string, spec: object, dryRun = false): Promise<Service> {
    const body = { metadata: { name, namespace: 'n' }, spec: { ports: [{ port: 80 }], ...spec } };
    const object = decode(serviceType, body).value as unknown as ApiObject;
    this.context.registry.findStoredResource('', 'v1', 'services')?.definition.strategy.applyDefaults?.(object);
    const { json } = await this.store.create(request, object, { dryRun, validate: async () => {} });
    return JSON.parse(json) as Service;
  }

  async change(name: string, change: (service: Service) => void, dryRun = false): Promise<Service> {
    const transform = (live: ApiObject | undefined): ApiObject => {
      if (live === undefined) throw notFoundError({ group: '', resource: 'services' }, name);
      const object = structuredClone(live);
      change(object as unknown as Service);
      this.context.registry.findStoredResource('', 'v1', 'services')?.definition.strategy.applyDefaults?.(object);
      return object;
    };
    const { json } = await this.store.update(request, 'n', name, { dryRun, validate: async () => {}, transform });
    return JSON.parse(json) as Service;
  }

  async delete(name: string): Promise<void> {
    await this.store.delete(request, 'n', name, { dryRun: false, validate: async () => {} });
  }

  /** Names of allocations, sorted. */
  async allocated(resource: string): Promise<string[]> {
    const page = await this.storage.list({ resource });
    return page.items.map((item) => item.key.name).sort();
  }

  async stop(): Promise<void> {
    await this.storage.stop();
  }
}
