import type { AuthenticationOptions } from '../../../base/config/authentication.options.js';
import { loadClientConfig } from '../../../base/outgoing/client-config.js';
import { WebhookClient } from '../../../base/outgoing/webhook-client.js';
import { WebhookTokenAuthenticator, type WebhookTokenDependencies } from './webhook-token.authenticator.js';

/** The limit for each of accepted and rejected tokens; one response takes a few hundred bytes. */
const maxCachedAnswers = 10_000;

/** The webhook's authentication method, with its connections. */
export interface TokenWebhook {
  readonly method: WebhookTokenAuthenticator;
  stop(): void;
}

/** Sets up the webhook when the options name its file. Throws when the file is unusable. */
export function buildTokenWebhook(
  options: AuthenticationOptions,
  dependencies: Omit<WebhookTokenDependencies, 'client'> & { readonly apiAudiences: readonly string[] },
): TokenWebhook | undefined {
  const file = options.authenticationTokenWebhookConfigFile;
  if (file === undefined) return undefined;
  const client = new WebhookClient(loadClientConfig(file));
  const settings = {
    version: options.authenticationTokenWebhookVersion,
    cacheTtlMs: options.authenticationTokenWebhookCacheTtl,
    maxCachedAnswers,
    apiAudiences: dependencies.apiAudiences,
  };
  return { method: new WebhookTokenAuthenticator(settings, { ...dependencies, client }), stop: () => client.stop() };
}
