/** Validating takes more work than the value is allowed. */
export class TooMuchWork extends Error {}

/** What every validation may take, in units of about 20 ns, and what each value of the object adds. */
const baseWork = 500_000;
const workPerValue = 15;

/**
 * Bounds what alternatives (allOf, anyOf, oneOf, not), patterns and comparisons take: the schema alone would let them
 * multiply with the value. What is left is linear in the value.
 */
export class Work {
  private left = baseWork;

  /** @throws {TooMuchWork} when it is used up. */
  charge(units: number): void {
    this.left -= units;
    if (this.left < 0) throw new TooMuchWork();
  }

  /** A value of the object itself was reached. */
  allowValue(): void {
    this.left += workPerValue;
  }
}
