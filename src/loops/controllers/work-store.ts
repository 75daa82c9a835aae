import type { Clock } from '../../base/machinery/clock.js';
import type { StoredServedResource } from '../../objects/registry/resource-registry.js';
import { AdmittedStore, openAdmission, type WriteAdmission } from '../../objects/registry/store/admitted-store.js';
import { Store } from '../../objects/registry/store/store.js';
import type { StoreOptions } from '../../objects/registry/store/store-options.js';
import type { Storage } from '../../storage/storage.interface.js';

/** The dependencies of a store for loops. */
export interface WorkStoreDependencies {
  readonly storage: Storage;
  readonly timers: Clock;
  /** The admission of the writes. Default: everything is admitted. */
  readonly admission?: WriteAdmission | undefined;
}

/** The store of a resource for the writes of a control loop. */
export function workStore(
  resource: StoredServedResource,
  { storage, timers, admission = openAdmission }: WorkStoreDependencies,
  options: StoreOptions = {},
): AdmittedStore {
  return new AdmittedStore(new Store(resource, storage, timers, undefined, options), admission);
}
