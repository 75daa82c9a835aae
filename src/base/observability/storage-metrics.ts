import { Counter, Histogram, type Registry } from 'prom-client';

const fieldBuckets = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];
const latencyBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Metrics of this process's database calls and of its write batches. */
export class StorageMetrics {
  private readonly latency: Histogram<'operation'>;
  private readonly batchSize: Histogram<string>;
  private readonly batchLatency: Histogram<string>;
  private readonly errors: Counter<'code'>;
  private readonly fieldLatency: Histogram<'operation'>;
  private readonly fieldRequests: Counter<'operation'>;
  private readonly fieldErrors: Counter<'operation'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.latency = new Histogram({
      name: 'storage_request_duration_seconds',
      help: 'Time of storage calls by operation.',
      labelNames: ['operation'],
      buckets: latencyBuckets,
      registers,
    });
    // Dashboards query storage latency under the name of etcd.
    this.fieldLatency = new Histogram({
      name: 'etcd_request_duration_seconds',
      help: 'Time of storage calls by operation, under the name that dashboards ask for.',
      labelNames: ['operation'],
      buckets: fieldBuckets,
      registers,
    });
    this.fieldRequests = new Counter({
      name: 'etcd_requests_total',
      help: 'Storage calls by operation, under the name that dashboards ask for.',
      labelNames: ['operation'],
      registers,
    });
    this.fieldErrors = new Counter({
      name: 'etcd_request_errors_total',
      help: 'Storage calls that failed, by operation, under the name that dashboards ask for.',
      labelNames: ['operation'],
      registers,
    });
    this.batchSize = new Histogram({
      name: 'storage_write_batch_size',
      help: 'Writes committed together.',
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
      registers,
    });
    this.batchLatency = new Histogram({
      name: 'storage_write_batch_duration_seconds',
      help: 'Time of one committed batch of writes.',
      buckets: latencyBuckets,
      registers,
    });
    this.errors = new Counter({
      name: 'storage_errors_total',
      help: 'Failed storage calls by error code.',
      labelNames: ['code'],
      registers,
    });
  }

  called(operation: string, seconds: number): void {
    this.latency.observe({ operation }, seconds);
    this.fieldLatency.observe({ operation }, seconds);
    this.fieldRequests.inc({ operation });
  }

  committed(size: number, seconds: number): void {
    this.batchSize.observe(size);
    this.batchLatency.observe(seconds);
  }

  failed(code: string): void {
    this.errors.inc({ code });
    this.fieldErrors.inc({ operation: code });
  }
}
