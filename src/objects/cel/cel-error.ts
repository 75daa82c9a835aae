/** One fault in an expression. */
export interface CelIssue {
  /** Offset in the text. */
  readonly at: number;
  readonly message: string;
}

/**
 * The error of an evaluation that failed: a missing key, a wrong type, a division by zero. `||`, `&&` and the macros
 * `all` and `exists` ignore it if another operand or element decides the result. Has no stack, since an expression may
 * raise one per element.
 */
export class CelError {
  constructor(readonly message: string) {}

  toString(): string {
    return this.message;
  }
}
