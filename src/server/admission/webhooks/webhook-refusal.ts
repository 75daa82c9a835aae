import type { Infer } from '../../../base/machinery/schema/index.js';
import type { StatusDetails, StatusReason } from '../../../base/machinery/status-error.js';
import type { status } from '../../../objects/apis/meta/v1/status.types.js';
import { WebhookRefusal } from './webhook-errors.js';

const minCode = 400;
const maxCode = 599;

/**
 * The response to a request that a webhook refused: the webhook's own status, with a message that names the webhook
 * (specification 7). A code below 400 becomes 400, and one that is not allowed in an HTTP response becomes 500.
 */
export function hookRefusal(hook: string, given: Partial<Infer<typeof status>> | undefined): WebhookRefusal {
  const { code = 0, reason = '', message = '', details } = given ?? {};
  const denied = `admission webhook ${JSON.stringify(hook)} denied the request`;
  const why = message === '' ? reason : message;
  const hookCode = Math.max(code, minCode);
  return new WebhookRefusal(
    reason as StatusReason,
    why === '' ? `${denied} without explanation` : `${denied}: ${why}`,
    { code: hookCode > maxCode ? 500 : hookCode, details: details as StatusDetails | undefined },
    hookCode,
  );
}
