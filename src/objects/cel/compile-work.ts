import { CompileWorkExceeded } from './compile-work-exceeded.js';
/**
 * Counts the cost of compiling expressions, in parts of an expression: each takes one or two microseconds to parse,
 * check and prepare. Shared by all expressions of one object, it bounds the time for which they hold the event loop.
 */
export class CompileWork {
  private left: number;

  constructor(readonly limit: number) {
    this.left = limit;
  }

  /** Whether more work was requested than is allowed. */
  get isUsedUp(): boolean {
    return this.left < 0;
  }

  /** @throws {CompileWorkExceeded} when the allowance is used up. */
  charge(parts: number): void {
    this.left -= parts;
    if (this.left < 0) throw new CompileWorkExceeded(this.limit);
  }
}

/** The cost of every expression in addition to its parts. */
export const expressionWork = 5;
/** The additional cost of an expression with faults, for making their messages. */
export const faultyExpressionWork = 20;
/**
 * How many characters of an expression with faults count as one part: its lines are searched for the positions of the
 * faults.
 */
export const faultyCharactersPerPart = 10;
