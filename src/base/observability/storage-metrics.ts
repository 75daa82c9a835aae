import { Counter, type Registry } from 'prom-client';
import { CollectedMetric } from './collected-metric.js';
import { type LatencySeries, SeriesHistogram } from './series-histogram.js';

const fieldBuckets = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];
const latencyBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** What is counted of the calls of one operation. */
interface OperationSeries {
  readonly latency: LatencySeries;
  readonly fieldLatency: LatencySeries;
  calls: number;
}

/** Metrics of this process's database calls and of its write batches. */
export class StorageMetrics {
  /** The operations are the names of statements, of which there are few. */
  private readonly operations = new Map<string, OperationSeries>();
  private readonly latency: SeriesHistogram;
  private readonly fieldLatency: SeriesHistogram;
  private readonly batchSize: LatencySeries;
  private readonly batchLatency: LatencySeries;
  private readonly errors: Counter<'code'>;
  private readonly fieldErrors: Counter<'operation'>;

  constructor(registry: Registry) {
    const registers = [registry];
    const labelNames = ['operation'] as const;
    this.latency = new SeriesHistogram(
      { name: 'storage_request_duration_seconds', help: 'Time of storage calls by operation.', labelNames },
      latencyBuckets,
      registry,
    );
    // Dashboards query storage latency under the name of etcd.
    this.fieldLatency = new SeriesHistogram(
      {
        name: 'etcd_request_duration_seconds',
        help: 'Time of storage calls by operation, under the name that dashboards ask for.',
        labelNames,
      },
      fieldBuckets,
      registry,
    );
    new CollectedMetric(
      {
        name: 'etcd_requests_total',
        help: 'Storage calls by operation, under the name that dashboards ask for.',
        labelNames,
      },
      'counter',
      registry,
      () => [...this.operations].map(([operation, { calls }]) => ({ value: calls, labels: { operation } })),
    );
    this.fieldErrors = new Counter({
      name: 'etcd_request_errors_total',
      help: 'Storage calls that failed, by operation, under the name that dashboards ask for.',
      labelNames,
      registers,
    });
    this.batchSize = new SeriesHistogram(
      { name: 'storage_write_batch_size', help: 'Writes committed together.', labelNames: [] },
      [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
      registry,
      { evenEmpty: true },
    ).with({});
    this.batchLatency = new SeriesHistogram(
      {
        name: 'storage_write_batch_duration_seconds',
        help: 'Time of one committed batch of writes.',
        labelNames: [],
      },
      latencyBuckets,
      registry,
      { evenEmpty: true },
    ).with({});
    this.errors = new Counter({
      name: 'storage_errors_total',
      help: 'Failed storage calls by error code.',
      labelNames: ['code'],
      registers,
    });
  }

  called(operation: string, seconds: number): void {
    let series = this.operations.get(operation);
    if (series === undefined) {
      const labels = { operation };
      series = { latency: this.latency.with(labels), fieldLatency: this.fieldLatency.with(labels), calls: 0 };
      this.operations.set(operation, series);
    }
    series.latency.observe(seconds);
    series.fieldLatency.observe(seconds);
    series.calls++;
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
