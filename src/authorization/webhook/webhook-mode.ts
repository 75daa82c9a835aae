import type { Clock } from '../../machinery/clock.js';
import type { VendorNames } from '../../machinery/vendor.js';
import { loadClientConfig } from '../../outgoing/client-config.js';
import { WebhookClient } from '../../outgoing/webhook-client.js';
import type { ConfiguredMode } from '../configured-mode.js';
import type { SubjectAccessReviewVersion } from './review.js';
import { WebhookAuthorizer, type WebhookAuthorizerParts } from './webhook.authorizer.js';

const maxCachedAnswers = 8192;
/** A request waits no longer than this for the webhook, however often it is tried. */
const totalTimeoutMs = 30_000;

/** The options of the mode. */
export interface WebhookModeOptions {
  /** Client configuration with the address of the webhook and the credentials for it. */
  readonly configFile: string;
  readonly version: SubjectAccessReviewVersion;
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
}

/** Mode `Webhook`. Throws `ClientConfigError` for a configuration that can't be used. */
export function webhookMode(
  { configFile, ...settings }: WebhookModeOptions,
  parts: {
    readonly names: VendorNames;
    readonly clock: Clock;
    readonly logger: WebhookAuthorizerParts['logger'];
  },
): ConfiguredMode {
  const client = new WebhookClient(loadClientConfig(configFile));
  const authorizer = new WebhookAuthorizer({ ...settings, maxCachedAnswers, totalTimeoutMs }, { ...parts, client });
  return {
    authorizer,
    rules: authorizer,
    // Not at the abort: requests that are finished then still need answers.
    stopped: async () => client.stop(),
  };
}
