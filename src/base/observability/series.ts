import type { NativeHistogram } from './native-buckets.js';

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
