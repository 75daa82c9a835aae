import { CostLimitExceeded } from './cost-limit-exceeded.js';

/**
 * The budget of an evaluation. One unit is about one step: a name, a selection, a call, an element that a macro visits.
 * Work that grows with its input (strings that are searched or made, elements that are compared or copied) is charged
 * before it is done. Besides the units, {@link processorLimitMs} bounds the CPU time on slow machines.
 */
export class Budget {
  private left: number;
  /** The remaining units at which the clock is read next. */
  private nextLook: number;
  private startedAt = 0;

  constructor(readonly limit: number) {
    this.left = limit;
    this.nextLook = limit - unitsBetweenLooks;
  }

  /** Units spent so far. */
  get spent(): number {
    return this.limit - Math.max(this.left, 0);
  }

  /** Takes units from the budget. @throws {CostLimitExceeded} when it is used up. */
  charge(units: number): void {
    this.left -= units;
    if (this.left < this.nextLook) this.look();
  }

  /** Charges for reading or writing `length` characters of text. */
  chargeText(length: number): void {
    this.charge(Math.ceil(length * unitsPerCharacter));
  }

  private look(): void {
    if (this.left < 0) throw new CostLimitExceeded();
    this.nextLook = Math.max(0, this.left - unitsBetweenLooks);
    const now = processorMs();
    if (this.startedAt === 0) this.startedAt = now;
    else if (now - this.startedAt > processorLimitMs) {
      // Makes the next charge fail, too, for code that ignores the error.
      this.left = -1;
      throw new CostLimitExceeded();
    }
  }
}

/** CPU time of this thread in milliseconds: time in which the machine does other things doesn't count. */
function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** The longest that one evaluation may take, in milliseconds of CPU time, whatever is left of its budget. */
const processorLimitMs = 25;
/** How many units are spent between readings of the clock; a reading takes about as long as ten units. */
const unitsBetweenLooks = 2_000;
const unitsPerCharacter = 0.1;

/** The limit of one expression (specification 5.10, as in the newest release). */
export const expressionCostLimit = 1_000_000;
/** The limit of all expressions of one policy and one binding together. */
export const policyCostLimit = 10_000_000;
/** The limit of all match conditions of one webhook or policy together. */
export const matchConditionsCostLimit = 2_500_000;
