import { Counter, Gauge, Histogram, Registry } from 'prom-client';

const requestBuckets = [
  0.00025, 0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024, 2.048, 4.096, 8.192,
];
const sizeBuckets = [0, 100, 200, 300, 400, 511, 1023, 2047, 4095, 8291, 16_000, 32_000, 48_000, 64_000];

/** The metrics of the name server, under the names that dashboards for cluster DNS know. */
export class DnsMetrics {
  readonly registry = new Registry();
  readonly requests = this.counter('dns_requests_total', 'Queries that came.', [
    ...['server', 'zone', 'proto', 'family', 'type'],
  ]);
  readonly responses = this.counter('dns_responses_total', 'Answers by their code.', [
    ...['server', 'zone', 'rcode', 'plugin'],
  ]);
  readonly requestSeconds = this.histogram(
    'dns_request_duration_seconds',
    'Time to an answer.',
    ['server', 'zone'],
    requestBuckets,
  );
  readonly requestBytes = this.histogram(
    'dns_request_size_bytes',
    'Sizes of queries.',
    ['server', 'zone', 'proto'],
    sizeBuckets,
  );
  readonly responseBytes = this.histogram(
    'dns_response_size_bytes',
    'Sizes of answers.',
    ['server', 'zone', 'proto'],
    sizeBuckets,
  );
  readonly panics = this.counter('panics_total', 'Queries that ended in a fault of this program.', []);
  readonly cacheHits = this.counter('cache_hits_total', 'Answers of other servers that were kept.', ['type']);
  readonly cacheMisses = this.counter('cache_misses_total', 'Answers of other servers that were not kept.', []);
  readonly forwardRequests = this.counter('forward_requests_total', 'Queries to other servers.', ['to']);
  readonly forwardResponses = this.counter('forward_responses_total', 'Answers of other servers.', ['to', 'rcode']);
  readonly forwardSeconds = this.histogram(
    'forward_request_duration_seconds',
    'Time to an answer of another server.',
    ['to', 'rcode'],
    requestBuckets,
  );
  readonly forwardRejects = this.counter(
    'forward_max_concurrent_rejects_total',
    'Queries that were refused because too many were under way.',
    [],
  );
  readonly dropped = new Counter({
    name: 'plinth_dns_dropped_queries_total',
    help: 'Queries without an answer: of clients that sent too many, of others than clients, or no queries at all.',
    labelNames: ['reason'],
    registers: [this.registry],
  });
  /** How many responses of a kind are cached. */
  cacheSize: (kind: 'success' | 'denial') => number = () => 0;

  constructor() {
    const size = (kind: 'success' | 'denial') => this.cacheSize(kind);
    new Gauge({
      name: 'coredns_cache_entries',
      help: 'Answers of other servers that are kept.',
      labelNames: ['type'],
      registers: [this.registry],
      collect() {
        for (const type of ['success', 'denial'] as const) this.set({ type }, size(type));
      },
    });
  }

  private counter(name: string, help: string, labelNames: readonly string[]): Counter<string> {
    return new Counter({ name: `coredns_${name}`, help, labelNames: [...labelNames], registers: [this.registry] });
  }

  private histogram(
    name: string,
    help: string,
    labelNames: readonly string[],
    buckets: readonly number[],
  ): Histogram<string> {
    const settings = { name: `coredns_${name}`, help, labelNames: [...labelNames], buckets: [...buckets] };
    return new Histogram({ ...settings, registers: [this.registry] });
  }
}
