import { StatusError } from '../../../base/machinery/status-error.js';

/** The status (500) of a request after another fault of a webhook, or of its configuration. */
export class WebhookMistake extends StatusError {
  constructor(detail: string, cause: unknown = detail) {
    super('InternalError', `Internal error occurred: ${detail}`, { details: { causes: [{ message: detail }] }, cause });
    this.name = 'WebhookMistake';
  }

  /** Expected: the webhook is at fault. */
  override get isExpected(): boolean {
    return true;
  }
}
