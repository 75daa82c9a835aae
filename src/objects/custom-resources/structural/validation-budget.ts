import { ValidationBudgetExceeded } from './validation-budget-exceeded.js';

/** The budget of every validation, in units of about 20 ns, and what each value of the object adds. */
const baseWork = 400_000;
const workPerValue = 10;

/** The most steps for building the tables of patterns, apart from the last table. */
const buildingWork = 200_000;

/**
 * Bounds the cost of alternatives (allOf, anyOf, oneOf, not), patterns and comparisons: the schema alone would let them
 * multiply with the value. The remaining cost is linear in the value.
 */
export class ValidationBudget {
  private left = baseWork;
  private buildingLeft = buildingWork;

  /** Whether tables of patterns may still be built; otherwise a later object builds them. */
  get canBuild(): boolean {
    return this.buildingLeft > 0;
  }

  /**
   * Records that tables were built in the given number of steps. Not charged: the first object to need a table should
   * not pay for it.
   */
  build(steps: number): void {
    this.buildingLeft -= steps;
  }

  /** @throws {ValidationBudgetExceeded} when the budget is used up. */
  charge(units: number): void {
    this.left -= units;
    if (this.left < 0) throw new ValidationBudgetExceeded();
  }

  /** Raises the budget when the walk reaches a value of the object itself. */
  allowValue(): void {
    this.left += workPerValue;
  }
}
