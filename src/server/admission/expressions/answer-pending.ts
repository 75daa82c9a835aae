/**
 * Interrupts an evaluation whose next step needs the decision of an authorizer that has to call another server. Unlike
 * an error, it is not absorbed by `&&`, `||` or other operators of the expression.
 */
export class AnswerPending {
  constructor(
    /** Resolves when the decision is known. Never rejects. */
    readonly answered: Promise<void>,
  ) {}
}
