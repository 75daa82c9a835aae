/** A response that is longer than the caller accepts. */
export class AnswerSizeError extends Error {
  constructor(
    readonly status: number,
    readonly maxBytes: number,
  ) {
    super(`the answer has more than ${maxBytes} bytes`);
    this.name = 'AnswerSizeError';
  }
}
