/** Bytes that are not one item of CBOR, or that have no counterpart in JSON. The message suits a client. */
export class CborError extends SyntaxError {
  constructor(problem: string, options?: ErrorOptions) {
    super(`cbor: ${problem}`, options);
  }
}
