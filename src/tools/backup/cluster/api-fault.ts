/** An error response of the API. */
export class ApiFault extends Error {
  constructor(
    readonly status: number,
    readonly reason: string,
    message: string,
    /** The causes, as a Status lists them. */
    readonly causes: readonly string[] = [],
  ) {
    super(message);
    this.name = 'ApiFault';
  }
}
