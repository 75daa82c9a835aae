/**
 * A token bucket: full at first, it holds at most `burst` tokens and gains `perSecond` tokens each second. The caller
 * passes the time, in milliseconds of a clock that does not go back.
 */
export class TokenBucket {
  private readonly msOfToken: number;
  /** When the bucket was empty if no token has been taken since, or when its debt will be paid. */
  private emptyAt = Number.NEGATIVE_INFINITY;

  /** @param perSecond more than 0 */
  constructor(
    perSecond: number,
    private readonly burst: number,
  ) {
    this.msOfToken = 1000 / perSecond;
  }

  /** Takes one token; false, and nothing is taken, when there is no whole token. */
  tryTake(now: number): boolean {
    const emptyAt = this.emptyAtMost(now);
    if (now - emptyAt < this.msOfToken) return false;
    this.emptyAt = emptyAt + this.msOfToken;
    return true;
  }

  /** Takes tokens, also more than there are. Returns how long until the debt is paid, in milliseconds; 0 without a debt. */
  spend(now: number, tokens = 1): number {
    this.emptyAt = this.emptyAtMost(now) + tokens * this.msOfToken;
    return this.debtMs(now);
  }

  /** How long until the debt is paid, in milliseconds; 0 without a debt. */
  debtMs(now: number): number {
    return Math.max(0, this.emptyAt - now);
  }

  isFull(now: number): boolean {
    return this.emptyAt <= now - this.burst * this.msOfToken;
  }

  /** The time at which the bucket was empty, given that it holds at most `burst` tokens now. */
  private emptyAtMost(now: number): number {
    return Math.max(this.emptyAt, now - this.burst * this.msOfToken);
  }
}
