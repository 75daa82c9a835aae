import type { Timers } from '../../../base/machinery/timers.js';
import type { Logger } from '../../../base/observability/logger.js';
import type { Node } from '../../../objects/apis/core/v1/node.types.js';
import type { ProxyBackend } from '../backend.js';
import type { ClusterView, ForwardedPort } from '../cluster-view.js';
import { type Conntrack, udpFrontends } from '../conntrack.js';
import type { ProxyHealth } from '../health/proxy-health.js';
import { nodePortAddresses, ownNodeAddress, podMatch } from '../own-addresses.js';
import type { ProxyMetrics } from '../proxy-metrics.js';
import type { ProxyNames } from '../proxy-names.js';
import type { ProxyOptions } from '../proxy-options.js';
import type { Family } from '../rules/family.js';
import type { ServiceRules } from '../rules/rule-types.js';
import { serviceRules } from '../rules/service-rules.js';
import { usableTargets } from '../rules/usable-targets.js';
import { FamilyRules } from './family-rules.js';
import type { KernelTable } from './kernel-table.js';
import type { TableSettings } from './table-settings.js';

export interface NftablesDependencies {
  readonly options: ProxyOptions;
  readonly names: ProxyNames;
  readonly view: ClusterView;
  readonly tables: ReadonlyMap<Family, KernelTable>;
  readonly conntrack: Pick<Conntrack, 'forgetStale'>;
  readonly node: () => Node | undefined;
  /** Ranges of cluster addresses of both families. */
  readonly serviceCidrs: () => readonly string[];
  readonly metrics: ProxyMetrics;
  readonly health: ProxyHealth;
  readonly timers: Timers;
  readonly logger: Logger;
  /** The times of the pod changes that the next write applies. */
  readonly takeTriggers: () => readonly number[];
}

interface OwnFamily {
  readonly family: Family;
  readonly table: KernelTable;
  readonly rules: FamilyRules;
  /** The settings of the last write, as a text. */
  settings: string;
  readonly dirty: Set<string>;
}

/** Services as rules of the kernel, in one table for each family. */
export class NftablesBackend implements ProxyBackend {
  private readonly families: readonly OwnFamily[];

  constructor(private readonly dependencies: NftablesDependencies) {
    const { tables, timers, logger, metrics } = dependencies;
    this.families = [...tables].map(([family, table]) => {
      const settings = this.settingsOf(family);
      const onCleanupFailure = () => metrics.cleanupFailures.inc({ ip_family: family });
      const rules = new FamilyRules({ table, timers, logger, onCleanupFailure }, settings);
      return { family, table, rules, settings: JSON.stringify(settings), dirty: new Set() };
    });
  }

  changed(service: string): void {
    for (const { dirty } of this.families) dirty.add(service);
  }

  refresh(): void {
    for (const own of this.families) {
      for (const name of this.dependencies.view.names()) own.dirty.add(name);
      this.renewSettings(own);
    }
  }

  async sync(): Promise<boolean> {
    const triggers = this.dependencies.takeTriggers();
    let succeeded = true;
    for (const own of this.families) succeeded = (await this.syncFamily(own, triggers)) && succeeded;
    return succeeded;
  }

  async check(): Promise<boolean> {
    let isNeeded = false;
    for (const own of this.families) {
      await own.rules.removeStale();
      if (this.renewSettings(own)) isNeeded = true;
      if (await own.table.exists().catch(() => true)) continue;
      this.dependencies.logger.warn('the table of the proxy was removed by another program: it is written again', {
        family: own.family,
      });
      own.rules.distrust();
      isNeeded = true;
    }
    return isNeeded;
  }

  async stop(): Promise<void> {}

  private async syncFamily(own: OwnFamily, triggers: readonly number[]): Promise<boolean> {
    const { metrics, health, timers, logger } = this.dependencies;
    const { family, rules, dirty } = own;
    const labels = { ip_family: family };
    const began = timers.elapsed();
    const names = [...dirty];
    dirty.clear();
    const udpPorts: ForwardedPort[] = [];
    for (const name of names) {
      const ports = this.dependencies.view.portsOf(name, family);
      rules.replace(name, this.rulesOf(name, ports, family));
      udpPorts.push(...ports.filter(({ port }) => port.protocol === 'udp'));
    }
    try {
      await rules.removeStale();
      const { kind } = await rules.write();
      const seconds = (timers.elapsed() - began) / 1000;
      metrics.syncSeconds.observe(labels, seconds);
      if (kind === 'full') metrics.fullSyncSeconds.observe(labels, seconds);
      else metrics.partialSyncSeconds.observe(labels, seconds);
      for (const trigger of triggers) metrics.programmingSeconds.observe(labels, (timers.now() - trigger) / 1000);
    } catch (error) {
      metrics.syncFailures.inc(labels);
      logger.error('the rules could not be written: all rules will be written again soon', { family, error });
      return false;
    }
    metrics.lastSync.set(labels, timers.now() / 1000);
    const { internal, external } = rules.store.withoutLocal;
    metrics.withoutLocal.set({ ...labels, traffic_policy: 'internal' }, internal);
    metrics.withoutLocal.set({ ...labels, traffic_policy: 'external' }, external);
    health.updated(family);
    await this.forgetStale(family, udpPorts);
    return true;
  }

  private rulesOf(service: string, ports: readonly ForwardedPort[], family: Family): ServiceRules | undefined {
    const { options, names, node } = this.dependencies;
    if (ports.length === 0) return undefined;
    const own = { name: options.nodeName, zone: node()?.metadata.labels?.[names.zoneLabel] ?? '' };
    return serviceRules(
      ports.map(({ port, all }) => ({ service, port, targets: usableTargets(all, port, own) })),
      {
        family,
        nodeName: options.nodeName,
        nodeIP: ownNodeAddress(node(), family),
        masqueradeMark: 2 ** options.masqueradeBit,
      },
    );
  }

  private async forgetStale(family: Family, udpPorts: readonly ForwardedPort[]): Promise<void> {
    if (udpPorts.length === 0) return;
    const { conntrack, metrics, timers } = this.dependencies;
    const began = timers.elapsed();
    const count = await conntrack.forgetStale(family, udpFrontends(udpPorts));
    metrics.conntrackSeconds.observe({ ip_family: family }, (timers.elapsed() - began) / 1000);
    metrics.conntrackDeleted.inc({ ip_family: family }, count);
  }

  /** @returns whether the whole table must be written because of it */
  private renewSettings(own: OwnFamily): boolean {
    const settings = this.settingsOf(own.family);
    const text = JSON.stringify(settings);
    if (text === own.settings) return false;
    own.settings = text;
    own.rules.use(settings);
    return true;
  }

  private settingsOf(family: Family): TableSettings {
    const { options, node, serviceCidrs } = this.dependencies;
    const isOwn = (text: string) => text.includes(':') === (family === 'IPv6');
    return {
      family,
      masqueradeMark: 2 ** options.masqueradeBit,
      masqueradesAll: options.masqueradeAll,
      pods: podMatch(options, family),
      nodePortAddresses: nodePortAddresses(options.nodePortAddresses, family, node()),
      serviceCidrs: serviceCidrs().filter(isOwn),
    };
  }
}
