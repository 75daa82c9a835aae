import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock } from '../../../base/machinery/clock.js';
import { STORAGE, type Storage } from '../../../storage/storage.interface.js';
import { ResourceRegistry, type StoredServedResource } from '../resource-registry.js';
import { OwningStore } from './owning-store.js';
import { Store } from './store.js';

/**
 * The store of every resource, made on first use. For code that reads and writes objects by the rules of their kinds.
 */
@Injectable()
export class ResourceStores {
  private readonly stores = new WeakMap<StoredServedResource, Store>();

  constructor(
    @Inject(ResourceRegistry) readonly registry: ResourceRegistry,
    @Inject(STORAGE) readonly storage: Storage,
    @Inject(CLOCK) readonly clock: Clock,
  ) {}

  /** The store of a resource under one of its versions. */
  of(resource: StoredServedResource): Store {
    let store = this.stores.get(resource);
    if (store === undefined) {
      store = new Store(resource, this.storage, this.clock);
      this.stores.set(resource, store);
    }
    return store;
  }

  /**
   * The store of a resource in its version `v1`, by its name, for reads and for writes on behalf of requests. Throws
   * when no such resource is stored.
   */
  named(group: string, resource: string): Store {
    return this.of(this.find(group, resource));
  }

  /**
   * The same for the server's own writes, as this field manager. Throws when no such resource is stored.
   */
  owning(group: string, resource: string, manager: string): OwningStore {
    return new OwningStore(this.find(group, resource), this.storage, this.clock, this.registry, manager);
  }

  private find(group: string, resource: string): StoredServedResource {
    const found = this.registry.findStoredResource(group, 'v1', resource);
    if (found === undefined) throw new Error(`there is no stored resource ${resource}`);
    return found;
  }
}
