/** How many seats a level needed over some time. */
export interface DemandOverTime {
  readonly average: number;
  readonly deviation: number;
  readonly highest: number;
}

/** Measures a number over time: each value is weighted by the time for which it lasted. */
export class SeatDemand {
  private value = 0;
  private highest = 0;
  private since: number;
  private seconds = 0;
  private sum = 0;
  private squares = 0;

  /** @param now milliseconds from a fixed point. */
  constructor(private readonly now: () => number) {
    this.since = now();
  }

  get current(): number {
    return this.value;
  }

  set(value: number): void {
    if (value === this.value) return;
    this.pass();
    this.value = value;
    if (value > this.highest) this.highest = value;
  }

  /** The demand since the last call, or since the beginning. */
  take(): DemandOverTime {
    this.pass();
    const average = this.seconds > 0 ? this.sum / this.seconds : this.value;
    const variance = this.seconds > 0 ? this.squares / this.seconds - average * average : 0;
    const taken = { average, deviation: Math.sqrt(Math.max(0, variance)), highest: this.highest };
    this.seconds = 0;
    this.sum = 0;
    this.squares = 0;
    this.highest = this.value;
    return taken;
  }

  private pass(): void {
    const now = this.now();
    const passed = Math.max(0, now - this.since) / 1000;
    this.since = now;
    this.seconds += passed;
    this.sum += this.value * passed;
    this.squares += this.value * this.value * passed;
  }
}
