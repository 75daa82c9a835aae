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
