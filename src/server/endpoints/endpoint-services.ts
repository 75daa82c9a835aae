import { defaultFeatureGates, type FeatureGates } from '../../base/config/feature-gates.js';
import type { Clock } from '../../base/machinery/clock.js';
import type { VendorNames } from '../../base/machinery/vendor.js';
import type { Metrics } from '../../base/observability/metrics.js';
import type { ProxyConnections } from '../../base/outgoing/proxy-connections.js';
import type { ResourceRegistry, StoredServedResource } from '../../objects/registry/resource-registry.js';
import type { ResourceStores } from '../../objects/registry/store/resource-stores.js';
import { Store } from '../../objects/registry/store/store.js';
import type { Storage } from '../../storage/storage.interface.js';
import type { RequestAdmission } from '../admission/request-admission.js';
import type { Aggregation } from '../aggregation/aggregation.js';
import { type OrderedGroup, orderGroups } from '../aggregation/group-order.js';
import { LocalPriorities } from '../aggregation/local-priorities.js';
import type { BytesInHand } from '../flow-control/bytes-in-hand.js';
import type { NodeAgents } from '../node-agents/node-agents.js';
import type { LargeRequests } from './large-requests.interface.js';
import type { MetaKinds } from './meta-kinds.interface.js';
import { AcceptNegotiator } from './negotiation/accept.js';
import { ConnectionThrottle } from './negotiation/connection-throttle.js';
import { ContinueTokens } from './negotiation/continue-tokens.js';
import { StreamSeats } from './streams/stream-seats.js';

/** Limits and times that handlers need. */
export interface EndpointOptions {
  /** Size limit of a request body in bytes; larger ones get a 413. */
  readonly maxBodyBytes: number;
  /** The shortest time in seconds that a watch without timeoutSeconds stays open; the server picks up to twice that. */
  readonly minRequestTimeoutSeconds: number;
  /** Maximum number of bytes per second for all watches of one connection together; 0 means no limit. */
  readonly maxConnectionBytesPerSecond: number;
  /** Aborted when the process stops, which ends watches. */
  readonly shutdown: AbortSignal;
  /** Objects read per round trip while a long list is streamed. */
  readonly listPageSize: number;
  /** Maximum number of concurrent deletes for one DELETE of a collection. */
  readonly deleteCollectionWorkers: number;
  /** Whether a garbage collector runs beside the server, so that deletes may leave dependents to it. */
  readonly garbageCollector: boolean;
  /** Default: every feature at its default. */
  readonly features?: FeatureGates;
  /** Maximum time until an extension server sends its response head, in milliseconds. Default: a minute. */
  readonly remoteHeadLimitMs?: number;
  /** Paths of non-resource documents that only some servers have. Default: none. */
  readonly documentPaths?: () => readonly string[];
  /**
   * Returns a number from 0 to below 1; spreads events that would otherwise hit all clients at once. Default: random.
   */
  readonly random?: () => number;
}

/**
 * The dependencies of requests that need more than stored objects; a process does not serve these requests if they are
 * unset.
 */
export interface EndpointDependencies {
  /** Admission of writes and of connections. */
  readonly admission?: RequestAdmission | undefined;
  /** The extension servers. */
  readonly aggregation?: Aggregation | undefined;
  /** The agents of nodes. */
  readonly nodeAgents?: NodeAgents | undefined;
  /** The servers in pods and on nodes. */
  readonly proxies?: ProxyConnections | undefined;
  /** Limits the large bodies under way; unset in the thread for large requests, whose process has done that. */
  readonly inHand?: BytesInHand | undefined;
}

/** The dependencies of every handler; one instance per process. */
export class EndpointServices {
  readonly accept: AcceptNegotiator;
  readonly throttle: ConnectionThrottle;
  readonly continueTokens = new ContinueTokens();
  readonly random: () => number;
  readonly features: FeatureGates;
  readonly registry: ResourceRegistry;
  readonly storage: Storage;
  readonly clock: Clock;
  private readonly priorities: LocalPriorities;
  private readonly ownStores = new WeakMap<StoredServedResource, Store>();
  /**
   * Runs work that would block this thread; if unset, all work runs here. Set once the database is open, before the
   * first request: the other thread needs the signing key of continue tokens, which is stored in the database.
   */
  largeRequests: LargeRequests | undefined;
  readonly admission: RequestAdmission | undefined;
  readonly aggregation: Aggregation | undefined;
  readonly nodeAgents: NodeAgents | undefined;
  readonly proxies: ProxyConnections | undefined;
  readonly inHand: BytesInHand | undefined;
  readonly streamSeats = new StreamSeats();

  constructor(
    stores: ResourceStores,
    readonly names: VendorNames,
    readonly metrics: Metrics,
    readonly options: EndpointOptions,
    readonly kinds: MetaKinds,
    dependencies: EndpointDependencies = {},
  ) {
    this.admission = dependencies.admission;
    this.aggregation = dependencies.aggregation;
    this.nodeAgents = dependencies.nodeAgents;
    this.proxies = dependencies.proxies;
    this.inHand = dependencies.inHand;
    this.registry = stores.registry;
    this.storage = stores.storage;
    this.clock = stores.clock;
    this.priorities = new LocalPriorities(names);
    this.throttle = new ConnectionThrottle(options.maxConnectionBytesPerSecond);
    this.random = options.random ?? Math.random;
    this.features = options.features ?? defaultFeatureGates;
    this.accept = new AcceptNegotiator(names, this.features.isOn('CBORServingAndStorage'));
    this.registry.onChange(({ before, after }) => {
      if (before !== undefined && after === undefined) metrics.resourceGone(before);
    });
  }

  /** All served groups, those of extension servers too, in the order of discovery. */
  orderedGroups(): OrderedGroup[] {
    const local = this.registry.groups();
    if (this.aggregation !== undefined) return this.aggregation.services.ordered(local);
    const versions = new Map(local.map(({ group, versions: own }) => [group, own]));
    return orderGroups(versions, (group, version) => this.priorities.of(group, version));
  }

  /**
   * The store that clients' requests for a served resource use, created on first use. It creates objects in active
   * namespaces only.
   */
  storeOf(resource: StoredServedResource): Store {
    let store = this.ownStores.get(resource);
    if (store === undefined) {
      store = new Store(resource, this.storage, this.clock, undefined, { inLiveNamespaces: true });
      this.ownStores.set(resource, store);
    }
    return store;
  }
}
