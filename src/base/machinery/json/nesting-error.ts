/** Error for JSON text that is nested more deeply than any object may be. */
export class NestingError extends SyntaxError {
  constructor() {
    super('exceeded max depth');
  }
}
