/** Lets `burst` calls through at once, and `perSecond` on average. */
export class Throttle {
  private tokens: number;
  private last: number;

  /** @param elapsed milliseconds that never go back */
  constructor(
    private readonly perSecond: number,
    private readonly burst: number,
    private readonly elapsed: () => number,
  ) {
    this.tokens = burst;
    this.last = elapsed();
  }

  /** Takes a turn, and returns the milliseconds to wait for it. */
  take(): number {
    const now = this.elapsed();
    this.tokens = Math.min(this.burst, this.tokens + ((now - this.last) / 1000) * this.perSecond);
    this.last = now;
    this.tokens--;
    return this.tokens >= 0 ? 0 : (-this.tokens / this.perSecond) * 1000;
  }
}
