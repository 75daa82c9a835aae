import { NativeBuckets, type NativeHistogram } from './native-buckets.js';
import type { SeriesLabels, SeriesValue } from './series.js';

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
