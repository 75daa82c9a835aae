import { BucketCounts } from './bucket-counts.js';

/** A histogram of a number over time, in which each value is weighted by the milliseconds for which it lasted. */
export class TimedBuckets extends BucketCounts {
  private value = 0;

  /** @param since milliseconds from a fixed point */
  constructor(
    bounds: readonly number[],
    private since: number,
  ) {
    super(bounds);
  }

  /** @param now milliseconds from the same point */
  set(value: number, now: number): void {
    this.pass(now);
    this.value = value;
  }

  /** Adds the current value for the time up to `now`. */
  pass(now: number): void {
    if (now <= this.since) return;
    this.observe(this.value, now - this.since);
    this.since = now;
  }
}
