import type { Metric, MetricObjectWithValues, MetricValue, Registry } from 'prom-client';

/** Counts durations under one set of labels. */
export interface LatencySeries {
  /** @param seconds at least 0 */
  observe(seconds: number): void;
}

interface Series extends LatencySeries {
  readonly labels: Readonly<Record<string, string>>;
  readonly counts: number[];
  sum: number;
}

/**
 * A histogram whose series are made ahead, for durations that are counted many times in every request. The library's own
 * looks up the labels in each call, which costs more than what is measured here.
 */
export class SeriesHistogram {
  private readonly series: Series[] = [];

  constructor(
    readonly name: string,
    private readonly help: string,
    /** Upper bounds in seconds, ascending. */
    private readonly buckets: readonly number[],
    registry: Registry,
  ) {
    // Of a metric the registry only uses its name and get().
    registry.registerMetric(this as unknown as Metric);
  }

  /** Makes the series of these labels, which must differ from all others. It shows up once something is counted. */
  with(labels: Readonly<Record<string, string>>): LatencySeries {
    const { buckets } = this;
    const series: Series = {
      labels,
      counts: new Array<number>(buckets.length + 1).fill(0),
      sum: 0,
      observe(seconds) {
        let bucket = 0;
        while (bucket < buckets.length && seconds > (buckets[bucket] as number)) bucket++;
        this.counts[bucket] = (this.counts[bucket] as number) + 1;
        this.sum += seconds;
      },
    };
    this.series.push(series);
    return series;
  }

  /** The values of a scrape, in the form of the library. */
  get(): Promise<MetricObjectWithValues<MetricValue<string>>> {
    const values = this.series.flatMap((series) => this.valuesOf(series));
    return Promise.resolve({
      name: this.name,
      help: this.help,
      type: 'histogram',
      aggregator: 'sum',
      values,
    } as unknown as MetricObjectWithValues<MetricValue<string>>);
  }

  private valuesOf({ labels, counts, sum }: Series) {
    const values = [];
    let count = 0;
    for (const [i, inBucket] of counts.entries()) {
      count += inBucket;
      const le = this.buckets[i] === undefined ? '+Inf' : String(this.buckets[i]);
      values.push({ value: count, labels: { ...labels, le }, metricName: `${this.name}_bucket` });
    }
    if (count === 0) return [];
    values.push({ value: sum, labels, metricName: `${this.name}_sum` });
    values.push({ value: count, labels, metricName: `${this.name}_count` });
    return values;
  }
}
