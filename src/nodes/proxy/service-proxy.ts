import type { ApiObject } from '../../base/machinery/api-object.js';
import { errorText } from '../../base/machinery/startup-error.js';
import type { Timers } from '../../base/machinery/timers.js';
import type { Logger } from '../../base/observability/logger.js';
import { OutageLog } from '../../base/observability/outage-log.js';
import type { Node } from '../../objects/apis/core/v1/node.types.js';
import type { Service } from '../../objects/apis/core/v1/service.types.js';
import type { EndpointSlice } from '../../objects/apis/discovery/v1/endpoint-slice.types.js';
import type { ServiceCIDR } from '../../objects/apis/networking/v1/service-cidr.types.js';
import type { ApiUser } from '../connection/api-connection.js';
import { type ObjectWatchDependencies, watchObjects } from '../connection/object-watch.js';
import type { ProxyBackend } from './backend.js';
import { ClusterView } from './cluster-view.js';
import type { ProxyHealth } from './health/proxy-health.js';
import { ServiceHealth } from './health/service-health.js';
import { nodePortAddresses } from './own-addresses.js';
import type { ProxyMetrics } from './proxy-metrics.js';
import type { ProxyNames } from './proxy-names.js';
import type { ProxyOptions } from './proxy-options.js';
import type { Family } from './rules/family.js';
import { SyncLoop } from './sync-loop.js';

/** The inputs of a backend. */
export interface ProxySource {
  readonly view: ClusterView;
  readonly node: () => Node | undefined;
  readonly serviceCidrs: () => readonly string[];
  /** The times, in milliseconds, of the pod changes that the next sync applies. */
  readonly takeTriggers: () => readonly number[];
}

export interface ServiceProxyDependencies {
  readonly api: ApiUser;
  readonly options: ProxyOptions;
  readonly names: ProxyNames;
  readonly families: readonly Family[];
  readonly metrics: ProxyMetrics;
  readonly health: ProxyHealth;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly backend: (source: ProxySource) => ProxyBackend;
}

/** The proxy of a node: watches services and endpoints, and keeps a backend up to date. */
export class ServiceProxy {
  private readonly view: ClusterView;
  private readonly backend: ProxyBackend;
  private readonly loop: SyncLoop;
  private readonly checks: ServiceHealth;
  private readonly nodes = new Map<string, Node>();
  private readonly ranges = new Map<string, ServiceCIDR>();
  /**
   * The lists that have not been read yet. Nothing is written before they are, as that would cut off unknown services.
   */
  private readonly missing = new Set(['nodes', 'services', 'endpointslices']);
  private readonly changedServices = new Set<string>();
  private readonly changedEndpoints = new Set<string>();
  private triggers: number[] = [];
  private readonly stopping = new AbortController();
  private done: Promise<unknown> = Promise.resolve();
  private readonly startedAt: number;

  constructor(private readonly dependencies: ServiceProxyDependencies) {
    const { families, options, timers, health, logger, names } = dependencies;
    this.startedAt = timers.now();
    this.view = new ClusterView({ names, families, onChange: (...change) => this.changed(...change) });
    this.backend = dependencies.backend({
      view: this.view,
      node: () => this.node,
      serviceCidrs: () => [...this.ranges.values()].flatMap(({ spec }) => spec?.cidrs ?? []).sort(),
      takeTriggers: () => this.triggers.splice(0),
    });
    this.checks = new ServiceHealth({
      logger,
      addresses: () => this.healthAddresses(),
      isProxyHealthy: () => health.isHealthy,
    });
    this.loop = new SyncLoop({
      timers,
      minPeriodMs: options.minSyncPeriodMs,
      periodMs: options.syncPeriodMs,
      run: () => this.sync(),
      check: () => this.backend.check(),
    });
  }

  /** Starts to watch the API. @returns a promise that resolves after the first successful sync */
  start(): Promise<void> {
    const { signal } = this.stopping;
    const first = new Promise<void>((resolve) => {
      this.onFirst = resolve;
    });
    for (const family of this.dependencies.families) this.dependencies.health.updated(family);
    this.done = Promise.all([this.watchAll(signal), this.loop.run(signal)]);
    return first;
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.done;
    await this.checks.stop();
    await this.backend.stop();
  }

  private onFirst: () => void = () => undefined;

  private get node(): Node | undefined {
    return this.nodes.values().next().value;
  }

  private async sync(): Promise<boolean> {
    if (this.missing.size > 0) return true;
    const names = new Set([...this.changedServices, ...this.changedEndpoints]);
    this.changedServices.clear();
    this.changedEndpoints.clear();
    const succeeded = await this.backend.sync();
    this.showPending();
    for (const name of names)
      await this.checks.set(name, this.view.healthCheckOf(name, this.dependencies.options.nodeName));
    if (succeeded) this.onFirst();
    return succeeded;
  }

  private changed(service: string, what: 'service' | 'endpoints', trigger?: number): void {
    const { metrics } = this.dependencies;
    (what === 'service' ? metrics.serviceChanges : metrics.endpointChanges).inc();
    (what === 'service' ? this.changedServices : this.changedEndpoints).add(service);
    // Changes before the start don't count in the latency of the proxy.
    if (trigger !== undefined && trigger >= this.startedAt) this.triggers.push(trigger);
    this.backend.changed(service);
    this.showPending();
    this.request();
  }

  private refresh(): void {
    this.backend.refresh();
    this.request();
  }

  private request(): void {
    if (this.missing.size > 0) return;
    const { families, health, metrics, timers } = this.dependencies;
    for (const family of families) {
      health.queued(family);
      metrics.lastQueued.set({ ip_family: family }, timers.now() / 1000);
    }
    this.loop.request();
  }

  private showPending(): void {
    const { metrics } = this.dependencies;
    metrics.serviceChangesPending.set(this.changedServices.size);
    metrics.endpointChangesPending.set(this.changedEndpoints.size);
  }

  /** The addresses that serve health checks of services. */
  private healthAddresses(): readonly string[] {
    const { families, options } = this.dependencies;
    return families.flatMap((family) => {
      const all = family === 'IPv4' ? '0.0.0.0' : '::';
      return nodePortAddresses(options.nodePortAddresses, family, this.node) ?? [all];
    });
  }

  private listed(what: string): void {
    if (!this.missing.delete(what) || this.missing.size > 0) return;
    this.refresh();
  }

  private async watchAll(signal: AbortSignal): Promise<void> {
    const { options, health, names } = this.dependencies;
    const { view, nodes, ranges } = this;
    const query = { labelSelector: names.selector };
    const setNode = () => {
      health.useNode(this.node);
      this.refresh();
    };
    await Promise.all([
      this.watch<Node & ApiObject>('nodes', signal, {
        path: '/api/v1/nodes',
        query: { fieldSelector: `metadata.name=${options.nodeName}` },
        known: () => nodes.keys(),
        onObject: (node) => {
          const before = nodes.get(node.metadata.uid ?? '');
          nodes.set(node.metadata.uid ?? '', node);
          health.useNode(node);
          // A node often reports its status; rules depend on few of its fields.
          if (this.nodeInfo(before) !== this.nodeInfo(node)) setNode();
        },
        onGone: (uid) => {
          nodes.delete(uid);
          setNode();
        },
      }),
      this.watch<Service & ApiObject>('services', signal, {
        path: '/api/v1/services',
        query,
        known: () => view.knownServices(),
        onObject: (service) => view.putService(service),
        onGone: (uid) => view.removeService(uid),
      }),
      this.watch<EndpointSlice & ApiObject>('endpointslices', signal, {
        path: names.slicesPath,
        query,
        known: () => view.knownSlices(),
        onObject: (slice) => view.putSlice(slice),
        onGone: (uid) => view.removeSlice(uid),
      }),
      this.watch<ServiceCIDR & ApiObject>('servicecidrs', signal, {
        path: names.rangesPath,
        known: () => ranges.keys(),
        onObject: (range) => {
          ranges.set(range.metadata.uid ?? '', range);
          this.refresh();
        },
        onGone: (uid) => {
          ranges.delete(uid);
          this.refresh();
        },
      }),
    ]);
  }

  private watch<T extends ApiObject>(
    what: string,
    signal: AbortSignal,
    parts: Pick<ObjectWatchDependencies<T>, 'path' | 'query' | 'known' | 'onObject' | 'onGone'>,
  ): Promise<void> {
    const { api, timers, logger } = this.dependencies;
    const outage = new OutageLog(logger, { failed: `${what} can't be read`, recovered: `${what} are read again` });
    const onListed = () => {
      outage.worked();
      this.listed(what);
    };
    const onFailure = (error: unknown) => outage.failed({ error: errorText(error) });
    return watchObjects<T>({ api, timers, logger, random: Math.random, onListed, onFailure, ...parts }, signal);
  }

  /** The fields of a node that rules depend on. */
  private nodeInfo(node: Node | undefined): string {
    const { zoneLabel } = this.dependencies.names;
    return JSON.stringify([node?.metadata.labels?.[zoneLabel], node?.status?.addresses]);
  }
}
