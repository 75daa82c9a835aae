import { StatusError, type StatusErrorOptions, type StatusReason } from '../../../base/machinery/status-error.js';
import type { WebhookFault } from '../../../base/outgoing/webhook-fault.js';

/** Why a hook ended a write, as the metrics name it (specification 6.3). */
export type WebhookErrorType = 'calling_webhook_error' | 'no_error' | 'apiserver_internal_error';

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

/** The error of a write that a webhook refused. */
export class WebhookRefusal extends StatusError {
  override readonly name = 'WebhookRefusal';

  /** @param hookCode the code from the hook, or 400 if it sent none; some codes are not allowed in an HTTP answer */
  constructor(
    reason: StatusReason,
    message: string,
    options: StatusErrorOptions,
    readonly hookCode: number,
  ) {
    super(reason, message, options);
  }
}

/** A dry run must not have side effects, but the webhook may have some (specification 5.10). */
export function dryRunError(hook: string): StatusError {
  return new StatusError('BadRequest', `admission webhook ${JSON.stringify(hook)} does not support dry run`);
}
