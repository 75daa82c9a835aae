import type { Clock } from '../../../base/machinery/clock.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import { loadClientConfig } from '../../../base/outgoing/client-config.js';
import { WebhookClient } from '../../../base/outgoing/webhook-client.js';
import type { ConfiguredMode } from '../configured-mode.js';
import type { SubjectAccessReviewVersion } from './review.js';
import { WebhookAuthorizer, type WebhookAuthorizerDependencies } from './webhook.authorizer.js';

const maxCachedAnswers = 8192;
/** Maximum time that a request waits for the webhook, over all attempts. */
const totalTimeoutMs = 30_000;

/** The options of the mode. */
export interface WebhookModeOptions {
  /** Client configuration with the address of the webhook and the credentials for it. */
  readonly configFile: string;
  readonly version: SubjectAccessReviewVersion;
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
}

/** Mode `Webhook`. Throws `ClientConfigError` when the configuration is unusable. */
export function webhookMode(
  { configFile, ...settings }: WebhookModeOptions,
  dependencies: {
    readonly names: VendorNames;
    readonly clock: Clock;
    readonly logger: WebhookAuthorizerDependencies['logger'];
  },
): ConfiguredMode {
  const client = new WebhookClient(loadClientConfig(configFile));
  const authorizer = new WebhookAuthorizer(
    { ...settings, maxCachedAnswers, totalTimeoutMs },
    { ...dependencies, client },
  );
  return {
    authorizer,
    rules: authorizer,
    // The client does not stop when the signal is aborted: requests that are still finishing then need decisions.
    stopped: async () => client.stop(),
  };
}
