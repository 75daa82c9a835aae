import type { Registry } from 'prom-client';
import { Buckets } from './buckets.js';
import { CollectedMetric } from './collected-metric.js';
import type { RequestLabels } from './request-metrics.js';
import type { SeriesValue } from './series.js';

/** The labels of watch metrics. */
export interface WatchLabels {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** The labels of the initial lists of watches. */
type WatchListLabels = WatchLabels & Pick<RequestLabels, 'scope'>;

/** Counts the events of the watches of one resource. */
export interface WatchSeries {
  /** Counts a sent event of this many bytes. */
  sent(bytes: number): void;
}

const listBounds = [
  0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300,
];
const sizeBounds = [1024, 2048, 4096, 8192, 16_384, 32_768, 65_536, 131_072];

class EventSeries implements WatchSeries {
  count = 0;
  readonly sizes = new Buckets(sizeBounds);

  constructor(readonly labels: WatchLabels) {}

  sent(bytes: number): void {
    this.count++;
    this.sizes.observe(bytes);
  }
}

/** Metrics of watch events, under the names that operators' dashboards know. Events are counted for each watcher. */
export class WatchMetrics {
  private readonly series = new Map<string, EventSeries>();
  private readonly lists = new Map<string, { readonly labels: WatchListLabels; readonly durations: Buckets }>();

  constructor(registry: Registry) {
    const labelNames = ['group', 'version', 'resource'];
    const total = 'apiserver_watch_events_total';
    const sizes = 'apiserver_watch_events_sizes';
    new CollectedMetric(
      { name: total, help: 'Events sent to watches, by resource.', labelNames },
      'counter',
      registry,
      () => [...this.series.values()].map(({ count, labels }) => ({ value: count, labels: { ...labels } })),
    );
    new CollectedMetric(
      { name: sizes, help: 'Bytes of events sent to watches, by resource.', labelNames },
      'histogram',
      registry,
      () => {
        const values: SeriesValue[] = [];
        for (const series of this.series.values()) series.sizes.appendTo(values, sizes, { ...series.labels });
        return values;
      },
    );
    const lists = 'apiserver_watch_list_duration_seconds';
    const help = 'Time until watches that begin with the objects of their list had sent them all.';
    new CollectedMetric({ name: lists, help, labelNames: [...labelNames, 'scope'] }, 'histogram', registry, () => {
      const values: SeriesValue[] = [];
      for (const { labels, durations } of this.lists.values()) durations.appendTo(values, lists, { ...labels });
      return values;
    });
  }

  /** The series of a resource, shared by all of its watches. */
  of({ group, version, resource }: WatchLabels): WatchSeries {
    const key = `${group}\n${version}\n${resource}`;
    let series = this.series.get(key);
    if (series === undefined) {
      series = new EventSeries({ group, version, resource });
      this.series.set(key, series);
    }
    return series;
  }

  /** Counts the initial list of a watch. */
  listDone(labels: WatchListLabels, seconds: number): void {
    const key = Object.values(labels).join('\n');
    let list = this.lists.get(key);
    if (list === undefined) {
      list = { labels, durations: new Buckets(listBounds) };
      this.lists.set(key, list);
    }
    list.durations.observe(seconds);
  }

  /** Drops what was counted for resources that are no longer served. */
  forget(isGone: (labels: WatchLabels) => boolean): void {
    for (const [key, { labels }] of this.series) if (isGone(labels)) this.series.delete(key);
    for (const [key, { labels }] of this.lists) if (isGone(labels)) this.lists.delete(key);
  }
}
