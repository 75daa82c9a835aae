import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Family } from './rules/family.js';

const syncBuckets = Array.from({ length: 15 }, (_, power) => 0.001 * 2 ** power);
/** Buckets in seconds, from the change of a pod to the rules: fine at the start, up to five minutes. */
const programmingBuckets = [
  ...[0.25, 0.5],
  ...Array.from({ length: 59 }, (_, index) => 1 + index),
  ...Array.from({ length: 12 }, (_, index) => 60 + 5 * index),
  ...Array.from({ length: 7 }, (_, index) => 120 + 30 * index),
];

/** The metrics of the proxy, under the names that operators know. */
export class ProxyMetrics {
  readonly registry = new Registry();
  readonly syncSeconds = this.histogram('sync_proxy_rules_duration_seconds', 'Time of a write of rules.');
  readonly fullSyncSeconds = this.histogram('sync_full_proxy_rules_duration_seconds', 'Time of a write of all rules.');
  readonly partialSyncSeconds = this.histogram(
    'sync_partial_proxy_rules_duration_seconds',
    'Time of a write of changed rules.',
  );
  readonly lastSync = this.gauge('sync_proxy_rules_last_timestamp_seconds', 'When rules were last written.');
  readonly lastQueued = this.gauge(
    'sync_proxy_rules_last_queued_timestamp_seconds',
    'When a write of rules was last requested.',
  );
  readonly programmingSeconds = this.histogram(
    'network_programming_duration_seconds',
    'Time from the change of a pod or service to the rules.',
    programmingBuckets,
  );
  readonly endpointChanges = this.counter(
    'sync_proxy_rules_endpoint_changes_total',
    'Changes of endpoints that came.',
    [],
  );
  readonly serviceChanges = this.counter(
    'sync_proxy_rules_service_changes_total',
    'Changes of services that came.',
    [],
  );
  readonly endpointChangesPending = this.gauge(
    'sync_proxy_rules_endpoint_changes_pending',
    'Services whose endpoints have changed and are not written yet.',
    [],
  );
  readonly serviceChangesPending = this.gauge(
    'sync_proxy_rules_service_changes_pending',
    'Services that have changed and are not written yet.',
    [],
  );
  readonly withoutLocal = this.gauge(
    'sync_proxy_rules_no_local_endpoints_total',
    'Ports whose packets must stay on this node, where they have no endpoint.',
    ['ip_family', 'traffic_policy'],
  );
  readonly syncFailures = this.counter('sync_proxy_rules_nftables_sync_failures_total', 'Writes of rules that failed.');
  readonly cleanupFailures = this.counter(
    'sync_proxy_rules_nftables_cleanup_failures_total',
    'Removals of unused chains that failed.',
  );
  readonly conntrackSeconds = this.histogram(
    'conntrack_reconciler_sync_duration_seconds',
    'Time of a search for tracked packets whose endpoint is gone.',
  );
  readonly conntrackDeleted = this.counter(
    'conntrack_reconciler_deleted_entries_total',
    'Tracked flows that were forgotten because their endpoint is gone.',
  );
  readonly healthz = this.counter('proxy_healthz_total', 'Answers of /healthz.', ['code']);
  readonly livez = this.counter('proxy_livez_total', 'Answers of /livez.', ['code']);

  readonly policySeconds = new Histogram({
    name: 'plinth_network_policies_sync_duration_seconds',
    help: 'Time of a write of network policies.',
    labelNames: ['ip_family'],
    buckets: [...syncBuckets],
    registers: [this.registry],
  });
  readonly policyFailures = new Counter({
    name: 'plinth_network_policies_sync_failures_total',
    help: 'Writes of network policies that failed.',
    labelNames: ['ip_family'],
    registers: [this.registry],
  });

  constructor(families: readonly Family[]) {
    for (const ip_family of families) {
      this.syncFailures.inc({ ip_family }, 0);
      this.cleanupFailures.inc({ ip_family }, 0);
      this.conntrackDeleted.inc({ ip_family }, 0);
      this.policyFailures.inc({ ip_family }, 0);
    }
  }

  private histogram(name: string, help: string, buckets = syncBuckets): Histogram<'ip_family'> {
    return new Histogram({
      name: `kubeproxy_${name}`,
      help,
      labelNames: ['ip_family'],
      buckets: [...buckets],
      registers: [this.registry],
    });
  }

  private gauge(name: string, help: string, labelNames: readonly string[] = ['ip_family']): Gauge<string> {
    return new Gauge({ name: `kubeproxy_${name}`, help, labelNames: [...labelNames], registers: [this.registry] });
  }

  private counter(name: string, help: string, labelNames: readonly string[] = ['ip_family']): Counter<string> {
    return new Counter({ name: `kubeproxy_${name}`, help, labelNames: [...labelNames], registers: [this.registry] });
  }
}
