import type { Timers } from '../../base/machinery/timers.js';
import { TokenBucket } from '../../base/machinery/token-bucket.js';

/**
 * This many faults are reported at once, and then one more each refill time: thousands of keys may fail for one reason.
 */
const burst = 20;
const refillMs = 6000;

/** Limits how many faults are reported, and counts the others. */
export class FaultBudget {
  private readonly bucket = new TokenBucket(1000 / refillMs, burst);
  private kept = 0;

  constructor(private readonly timers: Pick<Timers, 'elapsed'>) {}

  /**
   * Returns how many faults were withheld since the last reported one if this fault may be reported, otherwise
   * undefined.
   */
  take(): number | undefined {
    if (!this.bucket.tryTake(this.timers.elapsed())) {
      this.kept += 1;
      return undefined;
    }
    const { kept } = this;
    this.kept = 0;
    return kept;
  }
}
