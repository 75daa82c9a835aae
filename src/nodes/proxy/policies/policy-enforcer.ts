import { readFile, writeFile } from 'node:fs/promises';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { SelectorError } from '../../../base/machinery/label-selector.js';
import { errorText } from '../../../base/machinery/startup-error.js';
import type { Timers } from '../../../base/machinery/timers.js';
import type { Logger } from '../../../base/observability/logger.js';
import { OutageLog } from '../../../base/observability/outage-log.js';
import type { Namespace } from '../../../objects/apis/core/v1/namespace.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import type { NetworkPolicy } from '../../../objects/apis/networking/v1/network-policy.types.js';
import type { ApiUser } from '../../connection/api-connection.js';
import { type ObjectWatchDependencies, watchObjects } from '../../connection/object-watch.js';
import type { KernelTable } from '../nftables/kernel-table.js';
import type { ProxyMetrics } from '../proxy-metrics.js';
import type { Family } from '../rules/family.js';
import { SyncLoop } from '../sync-loop.js';
import { podView } from './pod-view.js';
import { PolicyState } from './policy-state.js';
import { PolicyTable } from './policy-table.js';
import { policyView } from './policy-view.js';

export interface PolicyEnforcerDependencies {
  readonly api: ApiUser;
  readonly nodeName: string;
  /** Path of the policies of all namespaces. */
  readonly policiesPath: string;
  readonly tables: ReadonlyMap<Family, KernelTable>;
  readonly minSyncPeriodMs: number;
  readonly syncPeriodMs: number;
  readonly metrics: Pick<ProxyMetrics, 'policySeconds' | 'policyFailures'>;
  readonly timers: Timers;
  readonly logger: Logger;
}

const notEnded = { fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed' };
/** Whether packets between ports of one bridge pass the rules of the families above. */
const bridgeFiles = ['/proc/sys/net/bridge/bridge-nf-call-iptables', '/proc/sys/net/bridge/bridge-nf-call-ip6tables'];

/**
 * The network policies of a node: follows the API and keeps a table of the kernel up to date. Pods and namespaces are followed only
 * once there is a policy. Nothing is written before everything has been read, as it would cut off pods that are not known yet.
 */
export class PolicyEnforcer {
  private readonly state: PolicyState;
  private readonly tables: ReadonlyMap<Family, PolicyTable>;
  private readonly loop: SyncLoop;
  private readonly missing = new Set(['networkpolicies', 'pods', 'namespaces']);
  private readonly stopping = new AbortController();
  private done: Promise<unknown> = Promise.resolve();
  private others: Promise<unknown> | undefined;
  private hasPreparedBridges = false;

  constructor(private readonly dependencies: PolicyEnforcerDependencies) {
    const { nodeName, tables, timers, logger, minSyncPeriodMs, syncPeriodMs } = dependencies;
    this.state = new PolicyState(nodeName);
    this.tables = new Map(
      [...tables].map(([family, kernel]) => [family, new PolicyTable({ family, kernel, timers, logger })]),
    );
    this.loop = new SyncLoop({
      timers,
      minPeriodMs: minSyncPeriodMs,
      periodMs: syncPeriodMs,
      run: () => this.sync(),
      check: () => this.check(),
    });
  }

  start(): void {
    const { signal } = this.stopping;
    this.done = Promise.all([this.watchPolicies(signal), this.loop.run(signal)]);
  }

  /** The rules stay. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.done;
    await this.others;
  }

  private get isReady(): boolean {
    return this.missing.size === 0 || (!this.missing.has('networkpolicies') && !this.state.hasPolicies);
  }

  private async sync(): Promise<boolean> {
    if (!this.isReady) return true;
    let succeeded = true;
    for (const [family, table] of this.tables) succeeded = (await this.syncFamily(family, table)) && succeeded;
    return succeeded;
  }

  private async syncFamily(family: Family, table: PolicyTable): Promise<boolean> {
    const { metrics, timers, logger } = this.dependencies;
    const began = timers.elapsed();
    try {
      if (this.state.hasPolicies) await this.prepareBridges();
      const kind = await table.write(this.state.hasPolicies ? this.state.want(family) : undefined);
      if (kind !== undefined) metrics.policySeconds.observe({ ip_family: family }, (timers.elapsed() - began) / 1000);
      return true;
    } catch (error) {
      metrics.policyFailures.inc({ ip_family: family });
      logger.error('the network policies could not be written: all of them will be written again soon', {
        family,
        error,
      });
      return false;
    }
  }

  /** Looks whether somebody has removed a table. */
  private async check(): Promise<boolean> {
    if (!this.isReady || !this.state.hasPolicies) return false;
    let isNeeded = false;
    for (const [family, kernel] of this.dependencies.tables) {
      if (await kernel.exists().catch(() => true)) continue;
      this.dependencies.logger.warn(
        'the table of network policies was removed by another program: it is written again',
        { family },
      );
      this.tables.get(family)?.distrust();
      isNeeded = true;
    }
    return isNeeded;
  }

  private async prepareBridges(): Promise<void> {
    if (this.hasPreparedBridges) return;
    this.hasPreparedBridges = true;
    for (const file of bridgeFiles) {
      try {
        if ((await readFile(file, 'utf8')).trim() !== '1') await writeFile(file, '1');
      } catch (error) {
        const reason = 'network policies do not hold between pods on one bridge: load br_netfilter';
        this.dependencies.logger.warn(reason, { file, error: errorText(error) });
      }
    }
  }

  private request(): void {
    if (this.isReady) this.loop.request();
  }

  private listed(what: string): void {
    this.missing.delete(what);
    this.request();
  }

  private async watchPolicies(signal: AbortSignal): Promise<void> {
    const { state } = this;
    await this.watch<NetworkPolicy & ApiObject>('networkpolicies', signal, {
      path: this.dependencies.policiesPath,
      known: () => state.knownPolicies(),
      onObject: (policy) => {
        this.putPolicy(policy);
        this.others ??= this.watchOthers(signal);
        this.request();
      },
      onGone: (uid) => {
        state.putPolicy(uid, undefined);
        this.request();
      },
    });
  }

  private putPolicy(policy: NetworkPolicy & ApiObject): void {
    const uid = policy.metadata.uid ?? '';
    try {
      this.state.putPolicy(uid, policyView(policy));
    } catch (error) {
      if (!(error instanceof SelectorError)) throw error;
      const { namespace, name } = policy.metadata;
      // What it was before still holds; the API lets no such selector in.
      this.dependencies.logger.error('a network policy has a selector that is not valid', { namespace, name, error });
    }
  }

  private async watchOthers(signal: AbortSignal): Promise<void> {
    const { state } = this;
    await Promise.all([
      this.watch<Namespace & ApiObject>('namespaces', signal, {
        path: '/api/v1/namespaces',
        known: () => state.knownNamespaces(),
        onObject: ({ metadata: { uid = '', name = '', labels = {} } }) => {
          if (state.putNamespace(uid, { name, labels })) this.request();
        },
        onGone: (uid) => {
          if (state.putNamespace(uid, undefined)) this.request();
        },
      }),
      this.watch<Pod & ApiObject>('pods', signal, {
        path: '/api/v1/pods',
        query: notEnded,
        known: () => state.knownPods(),
        onObject: (pod) => {
          if (state.putPod(pod.metadata.uid ?? '', podView(pod))) this.request();
        },
        onGone: (uid) => {
          if (state.putPod(uid, undefined)) this.request();
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
    const outage = new OutageLog(logger, {
      failed: `network policies are not followed: ${what} can't be read`,
      recovered: `${what} are read again`,
    });
    const onListed = () => {
      outage.worked();
      this.listed(what);
    };
    const onFailure = (error: unknown) => outage.failed({ error: errorText(error) });
    return watchObjects<T>({ api, timers, logger, random: Math.random, onListed, onFailure, ...parts }, signal);
  }
}
