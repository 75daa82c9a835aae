import type { Timers } from '../../base/machinery/timers.js';

/**
 * This many faults are reported at once, and then one more each refill time: thousands of keys may fail for one reason.
 */
const burst = 20;
const refillMs = 6000;

/** Limits how many faults are reported, and counts the others. */
export class FaultBudget {
  private tokens = burst;
  private at: number;
  private kept = 0;

  constructor(private readonly timers: Pick<Timers, 'elapsed'>) {
    this.at = timers.elapsed();
  }

  /**
   * Returns how many faults were withheld since the last reported one if this fault may be reported, otherwise
   * undefined.
   */
  take(): number | undefined {
    const now = this.timers.elapsed();
    this.tokens = Math.min(burst, this.tokens + (now - this.at) / refillMs);
    this.at = now;
    if (this.tokens < 1) {
      this.kept += 1;
      return undefined;
    }
    this.tokens -= 1;
    const { kept } = this;
    this.kept = 0;
    return kept;
  }
}
