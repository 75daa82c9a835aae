import type { LargeLane } from '../large/large-lane.js';
import type { Clock } from '../machinery/clock.js';
import type { VendorNames } from '../machinery/vendor.js';
import type { Metrics } from '../observability/metrics.js';
import type { ResourceRegistry, StoredServedResource } from '../registry/resource-registry.js';
import type { ResourceStores } from '../registry/store/resource-stores.js';
import { Store } from '../registry/store/store.js';
import type { Storage } from '../storage/storage.interface.js';
import type { MetaKinds } from './meta-kinds.interface.js';
import { AcceptNegotiator } from './negotiation/accept.js';
import { ContinueTokens } from './negotiation/continue-token.js';
import { ConnectionThrottle } from './negotiation/throttle.js';

/** Limits and times of the HTTP side that handlers need. */
export interface EndpointOptions {
  /** Largest request body in bytes; above it 413. */
  readonly maxBodyBytes: number;
  /** Least time a watch without timeoutSeconds stays open, in seconds; the server picks up to twice that. */
  readonly minRequestTimeoutSeconds: number;
  /** Most bytes per second to the watches of one connection together; 0 is no limit. */
  readonly maxConnectionBytesPerSecond: number;
  /** Aborted when the process stops: watches end. */
  readonly shutdown: AbortSignal;
  /** Objects read per round trip while a long list is streamed. */
  readonly listPageSize: number;
  /** Most deletes under way at one time for one DELETE of a collection. */
  readonly deleteCollectionWorkers: number;
  /** Paths of documents that are no resources and that only some servers have. Default: none. */
  readonly documentPaths?: () => readonly string[];
  /** From 0 to below 1; spreads what would else happen to all clients at once. Default: random. */
  readonly random?: () => number;
}

/** What every handler works with; one per process. */
export class EndpointServices {
  readonly accept: AcceptNegotiator;
  readonly throttle: ConnectionThrottle;
  readonly continueTokens = new ContinueTokens();
  readonly random: () => number;
  readonly registry: ResourceRegistry;
  readonly storage: Storage;
  readonly clock: Clock;
  private readonly ownStores = new WeakMap<StoredServedResource, Store>();
  /** Does what would hold up everything else; without it, everything is done here. */
  largeLane: LargeLane | undefined;

  constructor(
    stores: ResourceStores,
    readonly names: VendorNames,
    readonly metrics: Metrics,
    readonly options: EndpointOptions,
    readonly kinds: MetaKinds,
  ) {
    this.registry = stores.registry;
    this.storage = stores.storage;
    this.clock = stores.clock;
    this.accept = new AcceptNegotiator(names);
    this.throttle = new ConnectionThrottle(options.maxConnectionBytesPerSecond);
    this.random = options.random ?? Math.random;
  }

  /** The store of a served resource for its clients, made on first use: objects are made in namespaces that live only. */
  storeOf(resource: StoredServedResource): Store {
    let store = this.ownStores.get(resource);
    if (store === undefined) {
      store = new Store(resource, this.storage, this.clock, undefined, { inLiveNamespaces: true });
      this.ownStores.set(resource, store);
    }
    return store;
  }
}
