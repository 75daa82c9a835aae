import type { Registry } from 'prom-client';
import { Buckets } from './buckets.js';
import { CollectedMetric } from './collected-metric.js';
import type { MetricHead, SeriesLabels, SeriesValue } from './series.js';

/** Counts durations (or sizes) under one set of labels. */
export interface LatencySeries {
  /** @param seconds at least 0 */
  observe(seconds: number): void;
}

/** A histogram whose series are created in advance, for what is observed in every request. */
export class SeriesHistogram {
  private readonly series: { readonly labels: SeriesLabels; readonly buckets: Buckets }[] = [];

  /**
   * @param bounds upper bounds of the buckets, ascending
   * @param options whether series are shown before anything is observed
   */
  constructor(
    head: MetricHead,
    private readonly bounds: readonly number[],
    registry: Registry,
    { evenEmpty = false }: { readonly evenEmpty?: boolean } = {},
  ) {
    new CollectedMetric(head, 'histogram', registry, () => {
      const values: SeriesValue[] = [];
      for (const { labels, buckets } of this.series) buckets.appendTo(values, head.name, labels, evenEmpty);
      return values;
    });
  }

  /**
   * Creates the series for these labels, which must differ from all others. It is shown once something has been
   * observed.
   */
  with(labels: SeriesLabels): LatencySeries {
    const buckets = new Buckets(this.bounds);
    this.series.push({ labels, buckets });
    return buckets;
  }
}
