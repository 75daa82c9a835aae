import type { SchedulerAmounts } from './amounts.js';

/** Amounts that can be changed in place. */
export class AmountSums implements SchedulerAmounts {
  milliCpu = 0;
  memory = 0;
  ephemeralStorage = 0;
  readonly others = new Map<string, number>();

  /** Adds amounts, or subtracts them with `by` -1. */
  add({ milliCpu, memory, ephemeralStorage, others }: SchedulerAmounts, by: 1 | -1 = 1): void {
    this.milliCpu += by * milliCpu;
    this.memory += by * memory;
    this.ephemeralStorage += by * ephemeralStorage;
    for (const [name, amount] of others) this.others.set(name, (this.others.get(name) ?? 0) + by * amount);
  }

  copy(): AmountSums {
    const sums = new AmountSums();
    sums.add(this);
    return sums;
  }
}
