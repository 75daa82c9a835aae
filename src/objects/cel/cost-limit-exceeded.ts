/** Thrown to end an evaluation that exceeded its cost limit. No operator of the language ignores this error. */
export class CostLimitExceeded {
  readonly message = 'operation cancelled: actual cost limit exceeded';

  toString(): string {
    return this.message;
  }
}
