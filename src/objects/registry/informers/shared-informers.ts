import type { ApiObject } from '../../../base/machinery/api-object.js';
import { formatGroupResource, type GroupResource } from '../../../base/machinery/group-version.js';
import type { Storage } from '../../../storage/storage.interface.js';
import type { StoredResources } from '../store/object-codec.js';
import { Informer } from './informer.js';

/** One informer for each resource, shared by all its users in the process. */
export class SharedInformers {
  private readonly informers = new Map<string, Informer>();

  constructor(
    private readonly storage: Storage,
    private readonly registry: StoredResources,
    private readonly onFault: (error: unknown) => void,
  ) {}

  /**
   * The informer of a stored resource; `T` must be the type of its stored version. The informer follows nothing until
   * it is used.
   */
  of<T extends ApiObject>(resource: GroupResource): Informer<T> {
    const name = formatGroupResource(resource);
    let informer = this.informers.get(name);
    if (informer === undefined) {
      informer = new Informer(this.storage, this.registry, name, this.onFault);
      this.informers.set(name, informer);
    }
    return informer as unknown as Informer<T>;
  }
}
