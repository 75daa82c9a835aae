import { ValueSet } from './comparison.js';

/** The values of an enum, hashed at their first use. */
export class AllowedValues {
  private set: ValueSet | undefined;

  constructor(readonly values: readonly unknown[]) {}

  /** Equal numbers are the same whatever their spelling. */
  has(value: unknown): boolean {
    return this.hashed().has(value);
  }

  /** Whether looking up an object or list takes time linear in it, rather than none. */
  get hasComposites(): boolean {
    return this.hashed().hasComposites;
  }

  private hashed(): ValueSet {
    if (this.set === undefined) {
      this.set = new ValueSet();
      for (const value of this.values) this.set.add(value);
    }
    return this.set;
  }
}
