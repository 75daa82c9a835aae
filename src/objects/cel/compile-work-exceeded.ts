/** Thrown when compiling takes more work than is allowed. */
export class CompileWorkExceeded extends Error {
  constructor(limit: number) {
    super(`takes too much work to compile: more than ${limit} parts of expressions`);
  }
}
