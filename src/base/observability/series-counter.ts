import type { Registry } from 'prom-client';
import { CollectedMetric } from './collected-metric.js';
import type { MetricHead, SeriesLabels } from './series.js';

/** Counts under one set of labels. */
export class CountedSeries {
  count = 0;

  /** @param evenEmpty whether the series is shown before anything is counted */
  constructor(
    readonly labels: SeriesLabels,
    readonly evenEmpty: boolean,
  ) {}

  inc(): void {
    this.count++;
  }
}

/** A counter whose series are created in advance, for what is counted in every request. */
export class SeriesCounter {
  private readonly series: CountedSeries[] = [];

  constructor(head: MetricHead, registry: Registry) {
    new CollectedMetric(head, 'counter', registry, () =>
      this.series
        .filter(({ count, evenEmpty }) => count > 0 || evenEmpty)
        .map(({ count, labels }) => ({ value: count, labels })),
    );
  }

  /** Creates the series for these labels, which must differ from all others. */
  with(labels: SeriesLabels, { evenEmpty = false }: { readonly evenEmpty?: boolean } = {}): CountedSeries {
    const series = new CountedSeries(labels, evenEmpty);
    this.series.push(series);
    return series;
  }
}
