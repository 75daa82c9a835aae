import type { Metric, MetricObjectWithValues, MetricValue, Registry } from 'prom-client';
import type { MetricHead, SeriesValue } from './series.js';

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
