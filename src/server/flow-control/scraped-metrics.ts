import type { Metric, MetricObjectWithValues, MetricValue, Registry } from 'prom-client';
import type { BucketCounts } from './bucket-counts.js';
import type { FlowSeries } from './flow-series.js';
import type { PriorityLevel } from './priority-level.js';

type Labels = Readonly<Record<string, string>>;
type Value = { readonly value: number; readonly labels: Labels; readonly metricName?: string };

/** The data that the metrics are computed from at each scrape. */
export interface FlowInfo {
  series(): Iterable<FlowSeries>;
  levels(): Iterable<PriorityLevel>;
  /** Requests by kind, over time: those in queues and those with seats. */
  kinds(): Iterable<{ readonly kind: string; readonly phase: string; readonly counts: BucketCounts }>;
  readonly inQueue: Readonly<Record<'readOnly' | 'mutating', number>>;
  readonly fairFraction: number;
  /** The time between two requests of the only demanding tenant, as a multiple of the time that one takes. */
  readonly spacing: number;
}

const prefix = 'apiserver_flowcontrol_';
/** The names of the labels of a series. */
export const flowLabelNames = ['priority_level', 'flow_schema'] as const;

/** The labels of a series. */
export function flowLabels({ schema, level }: FlowSeries): Labels {
  return { priority_level: level, flow_schema: schema };
}

/**
 * Registers metrics whose values are computed at each scrape. Names are given without the common prefix of flow
 * control.
 */
export class ScrapedMetrics {
  constructor(
    private readonly registry: Registry,
    private readonly info: FlowInfo,
  ) {}

  add(
    name: string,
    type: 'counter' | 'gauge' | 'histogram',
    help: string,
    labelNames: readonly string[],
    values: () => Iterable<Value>,
  ): void {
    this.addNamed(`${prefix}${name}`, type, help, labelNames, values);
  }

  /** Like {@link add}, but for a metric without the common prefix. */
  addNamed(
    name: string,
    type: 'counter' | 'gauge' | 'histogram',
    help: string,
    labelNames: readonly string[],
    values: () => Iterable<Value>,
  ): void {
    const get = () =>
      Promise.resolve({
        name,
        help,
        type,
        aggregator: 'sum',
        values: [...values()],
      } as unknown as MetricObjectWithValues<MetricValue<string>>);
    // The registry uses only the name and the get() function of a metric.
    this.registry.registerMetric({ name, type, help, labelNames, get, reset: () => undefined } as unknown as Metric);
  }

  /** A metric with one value for each schema and level. */
  ofSeries(type: 'counter' | 'gauge', name: string, help: string, value: (series: FlowSeries) => number): void {
    const { info } = this;
    this.add(name, type, help, flowLabelNames, function* () {
      for (const series of info.series()) yield { labels: flowLabels(series), value: value(series) };
    });
  }

  /** A gauge with one value for each level. */
  ofLevel(name: string, help: string, value: (level: PriorityLevel) => number): void {
    const { info } = this;
    this.add(name, 'gauge', help, ['priority_level'], function* () {
      for (const level of info.levels()) yield { labels: { priority_level: level.name }, value: value(level) };
    });
  }

  histogram(
    name: string,
    help: string,
    labelNames: readonly string[],
    series: () => Iterable<{ readonly labels: Labels; readonly counts: BucketCounts }>,
  ): void {
    this.add(name, 'histogram', help, labelNames, function* () {
      for (const { labels, counts } of series()) yield* histogramValues(`${prefix}${name}`, labels, counts);
    });
  }
}

function* histogramValues(name: string, labels: Labels, { bounds, counts, sum }: BucketCounts): Iterable<Value> {
  let count = 0;
  const total = counts.reduce((all, one) => all + one, 0);
  if (total === 0) return;
  for (const [i, inBucket] of counts.entries()) {
    count += inBucket;
    const le = bounds[i] === undefined ? '+Inf' : String(bounds[i]);
    yield { value: count, labels: { ...labels, le }, metricName: `${name}_bucket` };
  }
  yield { value: sum, labels, metricName: `${name}_sum` };
  yield { value: count, labels, metricName: `${name}_count` };
}
