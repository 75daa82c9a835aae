/**
 * An assumption of this program does not hold: a bug in the program, never a fault of a client or the database. The
 * code that catches it stops whatever relied on the assumption, and logs the error.
 */
export class InvariantError extends Error {
  constructor(promise: string, values: readonly unknown[]) {
    const details = values.length === 0 ? '' : ` (${values.map(String).join(', ')})`;
    super(`broken invariant: ${promise}${details}`);
    this.name = 'InvariantError';
  }
}

/**
 * Checks an assumption that comments state, in production too. The check itself must be cheap. docs/development.md
 * describes when to use it, and what stops when it fails.
 *
 * @param promise what holds at this place, as a sentence
 * @param values what contradicts it; no secrets, since they are logged
 * @throws InvariantError if it does not hold
 */
export function invariant(holds: boolean, promise: string, ...values: readonly unknown[]): asserts holds {
  if (!holds) throw new InvariantError(promise, values);
}
