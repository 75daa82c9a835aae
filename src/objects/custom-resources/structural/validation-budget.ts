/** Validating takes more work than the value is allowed. */
export class ValidationBudgetExceeded extends Error {}

/** What every validation may take, in units of about 20 ns, and what each value of the object adds. */
const baseWork = 400_000;
const workPerValue = 10;

/** Steps that building the tables of patterns may take, apart from the last one. */
const buildingWork = 200_000;

/**
 * Bounds what alternatives (allOf, anyOf, oneOf, not), patterns and comparisons take: the schema alone would let them
 * multiply with the value. What is left is linear in the value.
 */
export class ValidationBudget {
  private left = baseWork;
  private buildingLeft = buildingWork;

  /** Whether tables of patterns may still be built; they are otherwise by a later object. */
  get canBuild(): boolean {
    return this.buildingLeft > 0;
  }

  /** Tables were built in so many steps. Not charged: an object is not to blame for being the first. */
  build(steps: number): void {
    this.buildingLeft -= steps;
  }

  /** @throws {ValidationBudgetExceeded} when it is used up. */
  charge(units: number): void {
    this.left -= units;
    if (this.left < 0) throw new ValidationBudgetExceeded();
  }

  /** A value of the object itself was reached. */
  allowValue(): void {
    this.left += workPerValue;
  }
}
