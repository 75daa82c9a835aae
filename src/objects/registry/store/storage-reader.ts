import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { GroupResource } from '../../../base/machinery/group-version.js';
import { formatGroupResource } from '../../../base/machinery/group-version.js';
import type { Storage } from '../../../storage/storage.interface.js';
import { readStored, type StoredResources } from './object-codec.js';
import { toStatusError } from './to-status-error.js';

/** Reads the present state of single objects from the store, for rules about one object that depend on another. */
export interface ObjectReader {
  /** The object in its stored version; undefined when it does not exist. Throws a StatusError when it can't be read. */
  read(resource: GroupResource, namespace: string, name: string): Promise<ApiObject | undefined>;
}

/** A reader of all resources in a store. */
export class StorageReader implements ObjectReader {
  constructor(
    private readonly storage: Pick<Storage, 'get'>,
    private readonly registry: StoredResources,
  ) {}

  async read(resource: GroupResource, namespace: string, name: string): Promise<ApiObject | undefined> {
    try {
      const found = await this.storage.get({ resource: formatGroupResource(resource), namespace, name });
      return found === undefined ? undefined : await readStored(this.registry, found);
    } catch (error) {
      throw toStatusError(error, resource, name);
    }
  }
}
