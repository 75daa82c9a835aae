import type { QueueTimers } from './queue-timers.js';

/** The largest of recent values: it is forgotten little by little. */
export class DecayingMaximum {
  private value = 0;
  private at = 0;

  /** @param rememberedMs time after which about a third of a value is left, in milliseconds */
  constructor(
    private readonly timers: Pick<QueueTimers, 'elapsed'>,
    private readonly rememberedMs: number,
  ) {}

  get current(): number {
    return this.value * Math.exp((this.at - this.timers.elapsed()) / this.rememberedMs);
  }

  add(value: number): void {
    if (value < this.current) return;
    this.value = value;
    this.at = this.timers.elapsed();
  }
}
