import type { CallbackTimers, Timers } from '../../../base/machinery/timers.js';
import type { Logger } from '../../../base/observability/logger.js';
import type { Node } from '../../../objects/apis/core/v1/node.types.js';
import type { ProxyBackend } from '../backend.js';
import type { ClusterView, ForwardedPort } from '../cluster-view.js';
import type { ProxyHealth } from '../health/proxy-health.js';
import { nodePortAddresses } from '../own-addresses.js';
import type { ProxyMetrics } from '../proxy-metrics.js';
import type { ProxyNames } from '../proxy-names.js';
import type { ProxyOptions } from '../proxy-options.js';
import type { Target } from '../rules/endpoint-view.js';
import type { Family } from '../rules/family.js';
import { usableTargets } from '../rules/usable-targets.js';
import type { ConnectionForwarder, ForwarderPlace } from './forwarder.js';
import { TargetChoice } from './target-choice.js';
import { TcpForwarder } from './tcp-forwarder.js';
import { UdpForwarder } from './udp-forwarder.js';

export interface UserspaceDependencies {
  readonly options: ProxyOptions;
  readonly names: ProxyNames;
  readonly families: readonly Family[];
  readonly view: ClusterView;
  readonly node: () => Node | undefined;
  readonly metrics: ProxyMetrics;
  readonly health: ProxyHealth;
  readonly timers: Timers & CallbackTimers;
  readonly logger: Logger;
  readonly takeTriggers: () => readonly number[];
}

interface Wanted extends ForwarderPlace {
  readonly protocol: 'tcp' | 'udp';
  readonly targets: readonly Target[];
  readonly affinitySeconds: number;
}

/**
 * Forwards services without administrator rights: connections end in this process, which opens new ones to the
 * endpoints; these see this machine as the client. Listens on node ports, and on cluster and external addresses that
 * this machine has.
 */
export class UserspaceBackend implements ProxyBackend {
  private readonly dirty = new Set<string>();
  private readonly forwarders = new Map<string, Map<string, ConnectionForwarder>>();

  constructor(private readonly dependencies: UserspaceDependencies) {}

  changed(service: string): void {
    this.dirty.add(service);
  }

  refresh(): void {
    for (const name of this.dependencies.view.names()) this.dirty.add(name);
  }

  async sync(): Promise<boolean> {
    const { families, metrics, health, timers, takeTriggers } = this.dependencies;
    const began = timers.elapsed();
    const triggers = takeTriggers();
    const names = [...this.dirty];
    this.dirty.clear();
    for (const name of names) await this.syncService(name);
    for (const family of families) {
      const labels = { ip_family: family };
      metrics.syncSeconds.observe(labels, (timers.elapsed() - began) / 1000);
      for (const trigger of triggers) metrics.programmingSeconds.observe(labels, (timers.now() - trigger) / 1000);
      metrics.lastSync.set(labels, timers.now() / 1000);
      health.updated(family);
    }
    return true;
  }

  /** Addresses and ports that were in use may be free now. */
  async check(): Promise<boolean> {
    this.refresh();
    return true;
  }

  async stop(): Promise<void> {
    const all = [...this.forwarders.values()].flatMap((own) => [...own.values()]);
    this.forwarders.clear();
    await Promise.all(all.map((forwarder) => forwarder.stop()));
  }

  private async syncService(name: string): Promise<void> {
    const wanted = new Map<string, Wanted>();
    for (const family of this.dependencies.families) {
      for (const port of this.dependencies.view.portsOf(name, family)) {
        for (const each of this.wantedOf(port, family)) {
          wanted.set(`${each.protocol} ${each.address} ${each.port}`, each);
        }
      }
    }
    const own = this.forwarders.get(name) ?? new Map<string, ConnectionForwarder>();
    for (const [key, forwarder] of own) {
      if (wanted.has(key)) continue;
      own.delete(key);
      await forwarder.stop();
    }
    for (const [key, each] of wanted) {
      const forwarder = own.get(key) ?? (await this.open(name, each));
      if (forwarder === undefined) continue;
      forwarder.use(each.targets, each.affinitySeconds);
      own.set(key, forwarder);
    }
    if (own.size > 0) this.forwarders.set(name, own);
    else this.forwarders.delete(name);
  }

  /** The addresses to listen on for a port. None if it has no endpoints: connections are then refused, as intended. */
  private wantedOf({ port, all }: ForwardedPort, family: Family): Wanted[] {
    const { options, names, node } = this.dependencies;
    const { protocol, affinitySeconds } = port;
    if (protocol === 'sctp') return [];
    const zone = node()?.metadata.labels?.[names.zoneLabel] ?? '';
    const { anywhere, here } = usableTargets(all, port, { name: options.nodeName, zone });
    const shared = { protocol, affinitySeconds };
    const internal = port.isInternalLocal ? here : anywhere;
    const external = port.isExternalLocal ? here : anywhere;
    const found: Wanted[] = [{ ...shared, address: port.clusterIP, port: port.port, targets: internal }];
    for (const address of [...port.externalIPs, ...port.loadBalancerIPs]) {
      found.push({ ...shared, address, port: port.port, targets: external });
    }
    if (port.nodePort !== 0) {
      const all = family === 'IPv4' ? '0.0.0.0' : '::';
      for (const address of nodePortAddresses(options.nodePortAddresses, family, node()) ?? [all]) {
        found.push({ ...shared, address, port: port.nodePort, targets: external });
      }
    }
    return found.filter(({ targets }) => targets.length > 0);
  }

  /** Undefined when this machine does not have the address, or another program uses the port. */
  private async open(service: string, { protocol, address, port }: Wanted): Promise<ConnectionForwarder | undefined> {
    const { timers, logger } = this.dependencies;
    const choice = new TargetChoice(() => timers.now(), Math.random);
    try {
      if (protocol === 'tcp') return await TcpForwarder.start({ address, port }, choice);
      return await UdpForwarder.start({ address, port }, choice, timers);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const fields = { service, protocol, address, port, code };
      // Most machines have no cluster address; that is not an error.
      if (code === 'EADDRNOTAVAIL') logger.debug('this machine does not have an address of a service', fields);
      else logger.warn('a port of a service is not free', fields);
      return undefined;
    }
  }
}
