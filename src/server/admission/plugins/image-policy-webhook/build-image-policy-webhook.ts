import { reviewPolicy, WebhookClient } from '../../../../base/outgoing/webhook-client.js';
import type { AdmissionDependencies } from '../../admission-dependencies.js';
import { readImagePolicy } from './image-policy-configuration.js';
import { ImagePolicyWebhook } from './image-policy-webhook.js';

/** The plugin with its configuration. Throws an OptionsError with all faults of that configuration. */
export function buildImagePolicyWebhook(dependencies: AdmissionDependencies): ImagePolicyWebhook {
  const { client, retryBackoffMs, ...rules } = readImagePolicy(dependencies.configuration.of('ImagePolicyWebhook'));
  const policy = { ...reviewPolicy, firstRetryMs: retryBackoffMs };
  return new ImagePolicyWebhook(rules, { ...dependencies, client: new WebhookClient(client, policy) });
}
