import { StatusError } from '../../../base/machinery/status-error.js';
import type { WebhookFault } from '../../../base/outgoing/webhook-fault.js';

/** The status (500) of a request when a webhook call gave no usable response. */
export class WebhookCallError extends StatusError {
  constructor(
    hook: string,
    readonly fault: WebhookFault,
  ) {
    const detail = `failed calling webhook ${JSON.stringify(hook)}: ${fault.message}`;
    super('InternalError', `Internal error occurred: ${detail}`, {
      details: { causes: [{ message: detail }] },
      cause: fault,
    });
    this.name = 'WebhookCallError';
  }

  /** Expected: the webhook is at fault. */
  override get isExpected(): boolean {
    return true;
  }
}
