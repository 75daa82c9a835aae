import { eachInSteps, type Steps } from '../../../base/machinery/turns.js';
import { ValueSet } from './comparison.js';

/** Hashing this many values or more takes noticeable time. */
const many = 1000;

/** The values of an enum, hashed at their first use if they are few. */
export class AllowedValues {
  private set: ValueSet | undefined;

  constructor(readonly values: readonly unknown[]) {}

  /** Whether a value is allowed. Numbers are compared by value, whatever their spelling. */
  has(value: unknown): boolean {
    return this.hashed().has(value);
  }

  /** Whether looking up an object or list takes time linear in its size, rather than none. */
  get hasComposites(): boolean {
    return this.hashed().hasComposites;
  }

  /** Hashes many values, in several steps. */
  *hashIfMany(): Steps {
    if (this.values.length < many || this.set !== undefined) return;
    const set = new ValueSet();
    yield* eachInSteps(this.values, (value) => set.add(value));
    this.set = set;
  }

  private hashed(): ValueSet {
    if (this.set === undefined) {
      this.set = new ValueSet();
      for (const value of this.values) this.set.add(value);
    }
    return this.set;
  }
}
