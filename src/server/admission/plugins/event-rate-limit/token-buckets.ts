import { TokenBucket } from '../../../../base/machinery/token-bucket.js';

/** Token buckets by key. Each begins full; a new one replaces the least recently used one. */
export class TokenBuckets {
  private readonly buckets = new Map<string, TokenBucket>();

  /**
   * @param now milliseconds from a fixed point
   * @param perSecond tokens that a bucket gets per second, up to `burst`
   */
  constructor(
    private readonly perSecond: number,
    private readonly burst: number,
    private readonly maxBuckets: number,
    private readonly now: () => number,
  ) {}

  get size(): number {
    return this.buckets.size;
  }

  /** Takes a token; false when none is left. */
  take(key: string): boolean {
    const found = this.buckets.get(key);
    if (found !== undefined) this.buckets.delete(key);
    const bucket = found ?? new TokenBucket(this.perSecond, this.burst);
    this.buckets.set(key, bucket);
    if (this.buckets.size > this.maxBuckets) {
      for (const oldest of this.buckets.keys()) {
        this.buckets.delete(oldest);
        break;
      }
    }
    return bucket.tryTake(this.now());
  }
}
