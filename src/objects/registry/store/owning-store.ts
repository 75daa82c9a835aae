import type { ApiObject } from '../../../base/machinery/api-object.js';
import { type Clock, formatTime } from '../../../base/machinery/clock.js';
import type { RequestContext } from '../../../base/machinery/request-context.js';
import type { Storage } from '../../../storage/storage.interface.js';
import type { ResourceRegistry, StoredServedResource } from '../resource-registry.js';
import type { PartSubresource } from '../subresource-definition.js';
import { recordFieldOwner } from './field-owner.js';
import type { VersionedText } from './object-codec.js';
import { Store } from './store.js';
import type { CreateOptions, StoreUpdateOptions, UpdateOutcome } from './store-options.js';

/** An update of a whole object, or of the part `subresource`. */
interface OwningUpdateOptions extends StoreUpdateOptions {
  readonly subresource?: PartSubresource | undefined;
}

/**
 * The store for the server's own writes, which no request handler prepares: it records a field manager for what they
 * change, so that a client that applies such an object learns of the conflict.
 */
export class OwningStore extends Store {
  constructor(
    resource: StoredServedResource,
    storage: Storage,
    private readonly clock: Clock,
    private readonly registry: ResourceRegistry,
    private readonly manager: string,
  ) {
    super(resource, storage, clock);
  }

  override create(context: RequestContext, object: ApiObject, options: CreateOptions): Promise<VersionedText> {
    this.record(undefined, object);
    return super.create(context, object, options);
  }

  override update(
    context: RequestContext,
    namespace: string,
    name: string,
    options: OwningUpdateOptions,
  ): Promise<UpdateOutcome> {
    const transform = async (live: ApiObject | undefined) => {
      const made = await options.transform(live);
      if (made === live) return made;
      // The object that was made may share its metadata with the live object.
      const next = { ...made, metadata: { ...made.metadata } };
      this.record(live, next, options.subresource);
      return next;
    };
    return super.update(context, namespace, name, { ...options, transform });
  }

  private record(live: ApiObject | undefined, next: ApiObject, part?: PartSubresource): void {
    const { registry, manager } = this;
    recordFieldOwner(this.resource, { registry, manager, time: formatTime(this.clock.now()) }, live, next, part);
  }
}
