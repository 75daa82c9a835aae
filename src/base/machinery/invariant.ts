import { InvariantError } from './invariant-error.js';
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
