/**
 * A JSON value that is made when it is written: one level at a time, where what is below is lazy, too. Whoever writes JSON
 * in steps need not make all of a long value at once; JSON.stringify writes it like any other value.
 */
export class LazyJson {
  constructor(private readonly make: () => unknown) {}

  /** One level of the value. */
  toJSON(): unknown {
    return this.make();
  }
}

/** One level of a value that may be lazy. */
export function madeJson(value: unknown): unknown {
  return value instanceof LazyJson ? value.toJSON() : value;
}
