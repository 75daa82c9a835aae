/** A repeatable source of random choices: the same seed gives the same choices on every machine. */
export class Random {
  private state: number;

  constructor(readonly seed: number) {
    this.state = seed >>> 0;
  }

  /** A number from 0 up to, not including, 1. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = this.state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from 0 up to, not including, `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  /** True with this probability. */
  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(choices: readonly T[]): T {
    if (choices.length === 0) throw new RangeError('nothing to choose from');
    return choices[this.below(choices.length)] as T;
  }
}

/** The variable with the seed for repeating a test. */
export const seedVariable = 'PLINTH_TEST_SEED';

/**
 * The seeds a test runs with: a fixed one, and a new one that is printed. The seed in `PLINTH_TEST_SEED`, if set,
 * replaces both.
 */
export function testSeeds(title: string): readonly number[] {
  const given = process.env[seedVariable];
  if (given !== undefined) return [Number(given)];
  const fresh = Math.floor(Math.random() * 2 ** 32);
  console.log(`${title}: random seed ${fresh} (repeat with ${seedVariable}=${fresh})`);
  return [1, fresh];
}
