import { Counter, Gauge, type Registry } from 'prom-client';

/** How many nodes a zone has, by whether they are ready. */
interface ZoneNodes {
  readonly ready: number;
  readonly notReady: number;
}

const percent = 100;

/** Metrics of the node lifecycle controller, under upstream's names. A zone is a region and a zone in it. */
export class ZoneMetrics {
  private zones: ReadonlyMap<string, ZoneNodes> = new Map();
  private readonly evictions: Counter<'zone'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.evictions = new Counter({
      name: 'node_collector_evictions_total',
      help: 'Nodes that got the taint which evicts their pods, by zone.',
      labelNames: ['zone'],
      registers,
    });
    const gauge = (name: string, help: string, of: (nodes: ZoneNodes) => number) => {
      const zones = () => this.zones;
      new Gauge({
        name: `node_collector_${name}`,
        help,
        labelNames: ['zone'],
        registers,
        collect() {
          this.reset();
          for (const [zone, nodes] of zones()) this.set({ zone }, of(nodes));
        },
      });
    };
    gauge('zone_size', 'Nodes of a zone.', ({ ready, notReady }) => ready + notReady);
    gauge('unhealthy_nodes_in_zone', 'Nodes of a zone that are not ready.', ({ notReady }) => notReady);
    gauge('zone_health', 'Percentage of the nodes of a zone that are ready.', ({ ready, notReady }) =>
      ready + notReady === 0 ? percent : (percent * ready) / (ready + notReady),
    );
  }

  /** Sets what the zones look like now; none when another process leads. */
  seen(zones: ReadonlyMap<string, ZoneNodes>): void {
    this.zones = zones;
  }

  evicting(zone: string): void {
    this.evictions.inc({ zone });
  }
}
