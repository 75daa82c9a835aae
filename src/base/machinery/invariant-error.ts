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
