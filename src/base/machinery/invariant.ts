/**
 * A promise that this program makes to itself does not hold: a fault of the program, never of a client or of the
 * database. Whoever catches it ends what relied on the promise, and logs it.
 */
export class InvariantError extends Error {
  constructor(promise: string, values: readonly unknown[]) {
    const details = values.length === 0 ? '' : ` (${values.map(String).join(', ')})`;
    super(`broken invariant: ${promise}${details}`);
    this.name = 'InvariantError';
  }
}

/**
 * Checks a promise that comments state, in production too. The check itself must be cheap. docs/development.md says when to use
 * it, and what ends.
 *
 * @param promise what holds at this place, as a sentence
 * @param values what contradicts it; no secrets, since they are logged
 * @throws InvariantError if it does not hold
 */
export function invariant(holds: boolean, promise: string, ...values: readonly unknown[]): asserts holds {
  if (!holds) throw new InvariantError(promise, values);
}
