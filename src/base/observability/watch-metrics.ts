import type { Registry } from 'prom-client';
import { Buckets, CollectedMetric, type SeriesValue } from './series.js';

/** The labels of watches. */
export interface WatchLabels {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** Counts the events of the watches of one kind. */
export interface WatchSeries {
  /** An event of this many bytes was sent. */
  sent(bytes: number): void;
}

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

/** The events of watches, under the names that operators' dashboards know. They are counted for each watcher. */
export class WatchMetrics {
  private readonly series = new Map<string, EventSeries>();

  constructor(registry: Registry) {
    const labelNames = ['group', 'version', 'kind'];
    const total = 'apiserver_watch_events_total';
    const sizes = 'apiserver_watch_events_sizes';
    new CollectedMetric(
      { name: total, help: 'Events sent to watches, by kind.', labelNames },
      'counter',
      registry,
      () => [...this.series.values()].map(({ count, labels }) => ({ value: count, labels: { ...labels } })),
    );
    new CollectedMetric(
      { name: sizes, help: 'Bytes of events sent to watches, by kind.', labelNames },
      'histogram',
      registry,
      () => {
        const values: SeriesValue[] = [];
        for (const series of this.series.values()) series.sizes.appendTo(values, sizes, { ...series.labels });
        return values;
      },
    );
  }

  /** The series of a kind; one for all of its watches. */
  of({ group, version, kind }: WatchLabels): WatchSeries {
    const key = `${group}\n${version}\n${kind}`;
    let series = this.series.get(key);
    if (series === undefined) {
      series = new EventSeries({ group, version, kind });
      this.series.set(key, series);
    }
    return series;
  }

  /** Drops what was counted for kinds that are no longer served. */
  forget(isGone: (labels: WatchLabels) => boolean): void {
    for (const [key, { labels }] of this.series) if (isGone(labels)) this.series.delete(key);
  }
}
