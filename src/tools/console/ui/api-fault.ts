/** An error response, or no response at all (code 0). The message is the server's. */
export class ApiFault extends Error {
  constructor(
    readonly code: number,
    message: string,
    /** The faults of single fields. */
    readonly causes: readonly string[] = [],
    /** The server's word for the reason, such as `AlreadyExists`. */
    readonly reason = '',
  ) {
    super(message);
  }
}
