/** A call without a usable response. The message names the address and never contains the sent value. */
export class WebhookError extends Error {
  constructor(
    message: string,
    /** The HTTP status, if there was a response. */
    readonly status: number | undefined,
    /** Whether another attempt may succeed. */
    readonly isTransient: boolean,
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'WebhookError';
  }
}
