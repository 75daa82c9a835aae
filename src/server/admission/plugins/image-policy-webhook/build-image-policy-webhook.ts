import { reviewPolicy, WebhookClient } from '../../../../base/outgoing/webhook-client.js';
import type { AdmissionParts } from '../../build-admission.js';
import { readImagePolicy } from './image-policy-configuration.js';
import { ImagePolicyWebhook } from './image-policy-webhook.js';

/** The plugin with its configuration. Throws an OptionsError with everything that is wrong with that. */
export function buildImagePolicyWebhook(parts: AdmissionParts): ImagePolicyWebhook {
  const { client, retryBackoffMs, ...rules } = readImagePolicy(parts.configuration.of('ImagePolicyWebhook'));
  const policy = { ...reviewPolicy, firstRetryMs: retryBackoffMs };
  return new ImagePolicyWebhook(rules, { ...parts, client: new WebhookClient(client, policy) });
}
