import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { AuthenticationOptions } from '../../../base/config/authentication.options.js';
import { systemDelay } from '../../../base/config/file-poll.js';
import { LiveFiles } from '../../../base/config/live-files.js';
import type { Clock } from '../../../base/machinery/clock.js';
import { httpsGetter } from './https-get.js';
import type { ProviderDependencies } from './oidc-provider.js';
import { OidcTokenAuthenticator } from './oidc-token.authenticator.js';

/** A method that finds its provider in the background. */
export interface OidcMethod {
  readonly method: OidcTokenAuthenticator;
  start(signal: AbortSignal): void;
  stopped(): Promise<void>;
}

/** Sets up ID tokens when the options name an issuer; throws when the CA file can't be read. */
export function buildOidc(
  options: AuthenticationOptions,
  dependencies: {
    readonly clock: Clock;
    readonly logger: ProviderDependencies['logger'] & { error(text: string, fields?: object): void };
    readonly apiAudiences: readonly string[];
    readonly credentialPrefix: string;
  },
): OidcMethod | undefined {
  const { oidcIssuerUrl, oidcClientId, oidcCaFile } = options;
  if (oidcIssuerUrl === undefined || oidcClientId === undefined) return undefined;
  const authorities = oidcCaFile === undefined ? undefined : authoritiesOf(oidcCaFile, dependencies.logger);
  const get = httpsGetter(authorities?.current);
  authorities?.onChange((ca) => get.trust(ca));
  const method = new OidcTokenAuthenticator(
    {
      issuerUrl: oidcIssuerUrl,
      clientId: oidcClientId,
      usernameClaim: options.oidcUsernameClaim,
      usernamePrefix: options.oidcUsernamePrefix,
      groupsClaim: options.oidcGroupsClaim,
      groupsPrefix: options.oidcGroupsPrefix,
      requiredClaims: options.oidcRequiredClaim,
      signingAlgorithms: options.oidcSigningAlgs,
      apiAudiences: dependencies.apiAudiences,
      credentialPrefix: dependencies.credentialPrefix,
    },
    { get, clock: dependencies.clock, wait: systemDelay, logger: dependencies.logger },
  );
  return {
    method,
    start: (signal) => {
      authorities?.start(signal);
      method.start(signal);
    },
    stopped: async () => {
      await authorities?.stopped();
      await method.stopped();
      get.close();
    },
  };
}

function authoritiesOf(
  path: string,
  logger: { info(text: string, fields?: object): void; error(text: string, fields?: object): void },
): LiveFiles<string> {
  const load = () => {
    const ca = readFileSync(path, 'utf8');
    if (!ca.includes('-----BEGIN CERTIFICATE-----')) throw new Error(`${path} has no certificate in PEM`);
    createSecureContext({ ca });
    return ca;
  };
  return new LiveFiles({ paths: [path], load, logger, subject: 'authorities of the provider' });
}
