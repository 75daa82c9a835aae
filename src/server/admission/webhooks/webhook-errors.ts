import { StatusError, type StatusErrorOptions, type StatusReason } from '../../../base/machinery/status-error.js';

/** Why a hook ended a write, as the metrics name it (specification 6.3). */
export type WebhookErrorType = 'calling_webhook_error' | 'no_error' | 'apiserver_internal_error';

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
