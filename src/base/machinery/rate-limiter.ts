import type { Timers } from './timers.js';
import { TokenBucket } from './token-bucket.js';

/**
 * Lets `burst` callers pass at once and then `perSecond` callers a second, in the order in which they came. A rate of 0
 * means no limit.
 */
export class RateLimiter {
  private readonly bucket: TokenBucket | undefined;

  constructor(
    perSecond: number,
    burst: number,
    private readonly timers: Timers,
  ) {
    this.bucket = perSecond <= 0 ? undefined : new TokenBucket(perSecond, Math.max(1, burst));
  }

  /** Resolves when the caller may proceed, or when the signal is aborted. */
  async take(signal: AbortSignal): Promise<void> {
    const waitMs = this.takeTurn();
    if (waitMs > 0) await this.timers.wait(waitMs, signal);
  }

  /** Takes the next turn, and returns how long the caller has to wait for it, in milliseconds. */
  takeTurn(): number {
    return this.bucket?.spend(this.timers.elapsed()) ?? 0;
  }

  /** Whether a caller may pass at once. If not, nothing is used up. */
  tryTake(): boolean {
    return this.bucket?.tryTake(this.timers.elapsed()) ?? true;
  }
}
