import type { Timers } from '../../base/machinery/timers.js';

/** So many faults are told at once, and then one more each refill time: thousands of keys may fail for one reason. */
const burst = 20;
const refillMs = 6000;

/** Bounds how many faults are told, and counts the others. */
export class FaultBudget {
  private tokens = burst;
  private at: number;
  private kept = 0;

  constructor(private readonly timers: Pick<Timers, 'elapsed'>) {
    this.at = timers.elapsed();
  }

  /** How many faults were kept since the last one that was told, when this one may be told; undefined: it is kept. */
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
