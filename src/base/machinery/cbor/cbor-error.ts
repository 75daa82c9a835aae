/** Bytes that are not a CBOR data item, or that have no counterpart in JSON. The message is safe to show to clients. */
export class CborError extends SyntaxError {
  constructor(problem: string, options?: ErrorOptions) {
    super(`cbor: ${problem}`, options);
  }
}
