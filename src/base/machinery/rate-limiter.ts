import type { Timers } from './timers.js';

/**
 * Lets `burst` callers pass at once and then `perSecond` callers a second, in the order in which they came. A rate of 0
 * means no limit.
 */
export class RateLimiter {
  /** When the next caller may pass if the whole burst is used up. */
  private nextAt: number;

  constructor(
    private readonly perSecond: number,
    private readonly burst: number,
    private readonly timers: Timers,
  ) {
    this.nextAt = Number.NEGATIVE_INFINITY;
  }

  /** Resolves when the caller may proceed, or when the signal is aborted. */
  async take(signal: AbortSignal): Promise<void> {
    const waitMs = this.takeTurn();
    if (waitMs > 0) await this.timers.wait(waitMs, signal);
  }

  /** Takes the next turn, and returns how long the caller has to wait for it, in milliseconds. */
  takeTurn(): number {
    if (this.perSecond <= 0) return 0;
    const now = this.timers.elapsed();
    return Math.max(0, this.reserve(now) - now);
  }

  /** Whether a caller may pass at once. If not, nothing is used up. */
  tryTake(): boolean {
    if (this.perSecond <= 0) return true;
    const now = this.timers.elapsed();
    const before = this.nextAt;
    if (this.reserve(now) <= now) return true;
    this.nextAt = before;
    return false;
  }

  private reserve(now: number): number {
    const spacingMs = 1000 / this.perSecond;
    const earliest = now - (Math.max(1, this.burst) - 1) * spacingMs;
    const at = Math.max(this.nextAt, earliest);
    this.nextAt = at + spacingMs;
    return at;
  }
}
