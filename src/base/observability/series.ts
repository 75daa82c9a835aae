import type { Metric, MetricObjectWithValues, MetricValue, Registry } from 'prom-client';
import { NativeBuckets, type NativeHistogram } from './native-buckets.js';

/** The labels of one series. */
export type SeriesLabels = Readonly<Record<string, string>>;

/** One line of a scrape. */
export interface SeriesValue {
  readonly value: number;
  readonly labels: SeriesLabels;
  /** Set only if it differs from the name of the metric, as with the buckets of a histogram. */
  readonly metricName?: string;
  /** A native histogram of the same observations; set only on the line with the count of a histogram. */
  readonly native?: NativeHistogram | undefined;
}

/** The description of a metric, for a scrape and for `docs/metrics.md`. */
export interface MetricHead {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
}

/**
 * A metric whose values come from a function, in the form that the library's registry collects. It is for values that
 * are counted in plain numbers, because they are counted in every request: the library's own counters look up the
 * labels in each call, which costs more than most of what is counted.
 */
export class CollectedMetric {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  readonly aggregator = 'sum';

  /** @param values called for each scrape */
  constructor(
    { name, help, labelNames }: MetricHead,
    readonly type: 'counter' | 'gauge' | 'histogram',
    registry: Registry,
    private readonly values: () => SeriesValue[],
  ) {
    this.name = name;
    this.help = help;
    this.labelNames = labelNames;
    // The registry uses only the name and get() of a metric.
    registry.registerMetric(this as unknown as Metric);
  }

  /** The values of a scrape, in the form of the library. */
  get(): Promise<MetricObjectWithValues<MetricValue<string>>> {
    const { name, help, type, aggregator } = this;
    const values = this.values();
    return Promise.resolve({ name, help, type, aggregator, values } as unknown as MetricObjectWithValues<
      MetricValue<string>
    >);
  }

  /** Required by the registry; there is nothing to reset. */
  reset(): void {}
}

/**
 * The line with the count of a histogram. A copy for another thread or process lacks the native histogram, which only
 * protobuf scrapes include.
 */
class CountLine implements SeriesValue {
  readonly #buckets: NativeBuckets;

  constructor(
    readonly value: number,
    readonly labels: SeriesLabels,
    readonly metricName: string,
    buckets: NativeBuckets,
  ) {
    this.#buckets = buckets;
  }

  get native(): NativeHistogram {
    return this.#buckets.shown();
  }
}

/** Counts observations by size. Bounds ascend; the last count is for observations above all bounds. */
export class Buckets {
  readonly counts: number[];
  sum = 0;
  /** Created on the first observation: most series of a process never have one. */
  private native: NativeBuckets | undefined;

  constructor(private readonly bounds: readonly number[]) {
    this.counts = new Array<number>(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    const { bounds } = this;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket++;
    this.counts[bucket] = (this.counts[bucket] as number) + 1;
    this.sum += value;
    this.native ??= new NativeBuckets();
    this.native.observe(value);
  }

  /** Adds the lines of a scrape to `values`; if nothing was observed, only if `evenEmpty`. */
  appendTo(values: SeriesValue[], name: string, labels: SeriesLabels, evenEmpty = false): void {
    const total = this.counts.reduce((sum, count) => sum + count, 0);
    if (total === 0 && !evenEmpty) return;
    let count = 0;
    for (const [i, inBucket] of this.counts.entries()) {
      count += inBucket;
      const le = this.bounds[i] === undefined ? '+Inf' : String(this.bounds[i]);
      values.push({ value: count, labels: { ...labels, le }, metricName: `${name}_bucket` });
    }
    values.push({ value: this.sum, labels, metricName: `${name}_sum` });
    values.push(new CountLine(total, labels, `${name}_count`, this.native ?? new NativeBuckets()));
  }
}
