import type { Random } from '../support/random.js';

/** Random choices of one test run. */
export class Draws {
  constructor(readonly random: Random) {}

  chance(share: number): boolean {
    return this.random.below(1000) < share * 1000;
  }

  pick<T>(values: readonly T[]): T {
    return values[this.random.below(values.length)] as T;
  }

  /** One value or none. */
  maybe<T>(share: number, make: () => T): T[] {
    return this.chance(share) ? [make()] : [];
  }

  /** Up to two values. */
  few<T>(share: number, make: () => T): T[] {
    return [...this.maybe(share, make), ...this.maybe(share / 2, make)];
  }
}
