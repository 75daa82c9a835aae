/** Lets one item through at once, and then the given number per second. */
export class RateLimit {
  private tokens = 1;
  private filledAt: number;

  /** @param now milliseconds from some fixed point, like all times of this class */
  constructor(now: number) {
    this.filledAt = now;
  }

  /**
   * Returns 0 when an item may pass now, which is then counted; otherwise the milliseconds until one may, or undefined
   * when none ever may.
   */
  take(now: number, perSecond: number): number | undefined {
    this.tokens = Math.min(1, this.tokens + ((now - this.filledAt) / 1000) * perSecond);
    this.filledAt = now;
    if (perSecond === 0) return undefined;
    // A deficit from rounding does not count.
    if (this.tokens >= 1 - 1e-9) {
      this.tokens = 0;
      return 0;
    }
    return Math.ceil(((1 - this.tokens) / perSecond) * 1000);
  }
}
