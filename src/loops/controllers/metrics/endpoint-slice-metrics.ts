import { Counter, exponentialBuckets, Gauge, Histogram, type Registry } from 'prom-client';

/** What the controller last saw of one service. */
export interface ServiceSlices {
  /** Slices that exist, and that would be enough for the endpoints. */
  readonly slices: number;
  readonly leastSlices: number;
  readonly endpoints: number;
  /** `spec.trafficDistribution`; empty without one. */
  readonly trafficDistribution: string;
}

/** The writes of one run. */
export interface SliceChanges {
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
  readonly endpointsAdded: number;
  readonly endpointsRemoved: number;
  /** Whether the endpoints have hints by zone. */
  readonly hasHints: boolean;
  readonly trafficDistribution: string;
}

/** Metrics of the controller of endpoint slices, under upstream's names. */
export class EndpointSliceMetrics {
  private readonly services = new Map<string, ServiceSlices>();
  private readonly syncs: Counter<'result'>;
  private readonly changes: Counter<'operation'>;
  private readonly changedSlices: Histogram<'topology' | 'traffic_distribution'>;
  private readonly added: Histogram;
  private readonly removed: Histogram;

  constructor(registry: Registry) {
    const registers = [registry];
    this.syncs = new Counter({
      name: 'endpoint_slice_controller_syncs',
      help: 'Runs of the work on the slices of a service, by result; stale: another writer was faster.',
      labelNames: ['result'],
      registers,
    });
    this.changes = new Counter({
      name: 'endpoint_slice_controller_changes',
      help: 'Endpoint slices that were written, by operation.',
      labelNames: ['operation'],
      registers,
    });
    this.changedSlices = new Histogram({
      name: 'endpoint_slice_controller_endpointslices_changed_per_sync',
      help: 'Slices that a run wrote, by whether they have hints by zone, and the traffic distribution of the service.',
      labelNames: ['topology', 'traffic_distribution'],
      buckets: exponentialBuckets(1, 2, 10),
      registers,
    });
    const buckets = exponentialBuckets(2, 2, 15);
    this.added = new Histogram({
      name: 'endpoint_slice_controller_endpoints_added_per_sync',
      help: 'Endpoints that a run added.',
      buckets,
      registers,
    });
    this.removed = new Histogram({
      name: 'endpoint_slice_controller_endpoints_removed_per_sync',
      help: 'Endpoints that a run removed.',
      buckets,
      registers,
    });
    this.addGauges(registers);
  }

  /** Counts a run, with the state of the service after it. */
  synced(key: string, state: ServiceSlices, changes: SliceChanges): void {
    this.services.set(key, state);
    this.syncs.inc({ result: 'success' });
    const { created, updated, deleted, hasHints, trafficDistribution: traffic_distribution } = changes;
    for (const [operation, count] of Object.entries({ create: created, update: updated, delete: deleted })) {
      if (count > 0) this.changes.inc({ operation }, count);
    }
    const topology = hasHints ? 'Auto' : 'Disabled';
    this.changedSlices.observe({ topology, traffic_distribution }, created + updated + deleted);
    this.added.observe(changes.endpointsAdded);
    this.removed.observe(changes.endpointsRemoved);
  }

  failed(result: 'stale' | 'error'): void {
    this.syncs.inc({ result });
  }

  /** Drops what was counted for a service that is gone. */
  forget(key: string): void {
    this.services.delete(key);
  }

  /** Drops what was counted for all services: another process leads. */
  clear(): void {
    this.services.clear();
  }

  private addGauges(registers: Registry[]): void {
    const sum = (of: (service: ServiceSlices) => number) => {
      let total = 0;
      for (const service of this.services.values()) total += of(service);
      return total;
    };
    const gauge = (name: string, help: string, of: (service: ServiceSlices) => number) =>
      new Gauge({
        name: `endpoint_slice_controller_${name}`,
        help,
        registers,
        collect() {
          this.set(sum(of));
        },
      });
    gauge('num_endpoint_slices', 'Endpoint slices of services with a selector.', ({ slices }) => slices);
    gauge(
      'desired_endpoint_slices',
      'The least number of slices that could hold the same endpoints.',
      ({ leastSlices }) => leastSlices,
    );
    gauge('endpoints_desired', 'Endpoints of services with a selector.', ({ endpoints }) => endpoints);
    const { services } = this;
    new Gauge({
      name: 'endpoint_slice_controller_services_count_by_traffic_distribution',
      help: 'Services with a traffic distribution, by its name.',
      labelNames: ['traffic_distribution'],
      registers,
      collect() {
        this.reset();
        for (const { trafficDistribution: traffic_distribution } of services.values()) {
          if (traffic_distribution !== '') this.inc({ traffic_distribution });
        }
      },
    });
  }
}
