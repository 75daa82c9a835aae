/** The reason why a call of a hook returned no usable response. The hook's failure policy decides what follows. */
export class WebhookFault extends Error {
  constructor(
    message: string,
    /** The HTTP status of the response; 0 if there was none, or it was not an error. */
    readonly status = 0,
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'WebhookFault';
  }
}
