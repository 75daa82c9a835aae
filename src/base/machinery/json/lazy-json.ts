/**
 * A JSON value that is built when it is written: one level at a time, and deeper values may be lazy, too. Code that
 * writes JSON in steps need not build all of a long value at once; JSON.stringify writes it like any other value.
 */
export class LazyJson {
  constructor(private readonly make: () => unknown) {}

  /** One level of the value. */
  toJSON(): unknown {
    return this.make();
  }
}

/** A lazy object whose members a stepwise writer builds one after the other: there may be very many. */
export class LazyMembers extends LazyJson {
  constructor(readonly members: () => Iterable<readonly [name: string, value: unknown]>) {
    super(() => Object.fromEntries(members()));
  }
}

/** One level of a value that may be lazy. */
export function madeJson(value: unknown): unknown {
  return value instanceof LazyJson ? value.toJSON() : value;
}
