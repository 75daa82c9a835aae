import type { ApiObject } from '../../base/machinery/api-object.js';
import { errorText } from '../../base/machinery/startup-error.js';
import type { Timers } from '../../base/machinery/timers.js';
import type { Logger } from '../../base/observability/logger.js';
import { OutageLog } from '../../base/observability/outage-log.js';
import type { Namespace } from '../../objects/apis/core/v1/namespace.types.js';
import type { Node } from '../../objects/apis/core/v1/node.types.js';
import type { Pod } from '../../objects/apis/core/v1/pod.types.js';
import type { Service } from '../../objects/apis/core/v1/service.types.js';
import type { EndpointSlice } from '../../objects/apis/discovery/v1/endpoint-slice.types.js';
import type { ApiUser } from '../connection/api-connection.js';
import { type ObjectWatchDependencies, watchObjects } from '../connection/object-watch.js';
import type { ClusterNames } from './records/cluster-names.js';
import type { NodeAddresses } from './server/node-addresses.js';

export interface ClusterWatchesDependencies {
  readonly api: ApiUser;
  readonly names: ClusterNames;
  /** The path of the slices of endpoints. */
  readonly slicesPath: string;
  /** Whether names of pods depend on the existing pods. */
  readonly watchesPods: boolean;
  /** Gets the addresses of nodes, which are watched if it is given. */
  readonly nodes: NodeAddresses | undefined;
  readonly timers: Timers;
  readonly logger: Logger;
}

/** Watches the API objects from which names are made. */
export class ClusterWatches {
  private readonly missing: Set<string>;
  private readonly stopping = new AbortController();
  private done: Promise<unknown> = Promise.resolve();
  private onReady: () => void = () => undefined;

  constructor(private readonly dependencies: ClusterWatchesDependencies) {
    const pods = dependencies.watchesPods ? ['pods'] : [];
    const nodes = dependencies.nodes === undefined ? [] : ['nodes'];
    this.missing = new Set(['namespaces', 'services', 'endpointslices', ...pods, ...nodes]);
  }

  /** Whether all lists have been read once. */
  get isReady(): boolean {
    return this.missing.size === 0;
  }

  /** Starts the watches. @returns a promise that resolves when all lists have been read once */
  start(): Promise<void> {
    const { signal } = this.stopping;
    const { names, nodes, slicesPath, watchesPods: followsPods } = this.dependencies;
    const ready = new Promise<void>((resolve) => {
      this.onReady = resolve;
    });
    this.done = Promise.all([
      this.watch<Namespace & ApiObject>('namespaces', signal, {
        path: '/api/v1/namespaces',
        known: () => names.uids.namespaces(),
        onObject: (namespace) => names.putNamespace(namespace),
        onGone: (uid) => names.removeNamespace(uid),
      }),
      this.watch<Service & ApiObject>('services', signal, {
        path: '/api/v1/services',
        known: () => names.uids.services(),
        onObject: (service) => names.putService(service),
        onGone: (uid) => names.removeService(uid),
      }),
      this.watch<EndpointSlice & ApiObject>('endpointslices', signal, {
        path: slicesPath,
        known: () => names.uids.slices(),
        onObject: (slice) => names.putSlice(slice),
        onGone: (uid) => names.removeSlice(uid),
      }),
      followsPods &&
        this.watch<Pod & ApiObject>('pods', signal, {
          path: '/api/v1/pods',
          known: () => names.uids.pods(),
          onObject: (pod) => names.putPod(pod),
          onGone: (uid) => names.removePod(uid),
        }),
      nodes &&
        this.watch<Node & ApiObject>('nodes', signal, {
          path: '/api/v1/nodes',
          known: () => nodes.uids(),
          onObject: (node) => nodes.put(node),
          onGone: (uid) => nodes.remove(uid),
        }),
    ]);
    return ready;
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.done;
  }

  private watch<T extends ApiObject>(
    what: string,
    signal: AbortSignal,
    parts: Pick<ObjectWatchDependencies<T>, 'path' | 'known' | 'onObject' | 'onGone'>,
  ): Promise<void> {
    const { api, timers, logger } = this.dependencies;
    const outage = new OutageLog(logger, { failed: `${what} can't be read`, recovered: `${what} are read again` });
    const onListed = () => {
      outage.worked();
      if (this.missing.delete(what) && this.isReady) this.onReady();
    };
    const onFailure = (error: unknown) => outage.failed({ error: errorText(error) });
    return watchObjects<T>({ api, timers, logger, random: Math.random, onListed, onFailure, ...parts }, signal);
  }
}
