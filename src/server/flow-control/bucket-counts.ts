/** The counts of one series of a histogram. */
export class BucketCounts {
  readonly counts: number[];
  sum = 0;

  /** @param bounds upper bounds, ascending */
  constructor(readonly bounds: readonly number[]) {
    this.counts = new Array<number>(bounds.length + 1).fill(0);
  }

  /** @param weight how often the value counts */
  observe(value: number, weight = 1): void {
    const { bounds, counts } = this;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket++;
    counts[bucket] = (counts[bucket] as number) + weight;
    this.sum += value * weight;
  }
}

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
