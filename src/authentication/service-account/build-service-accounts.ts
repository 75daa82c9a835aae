import type { AuthenticationOptions } from '../../config/authentication.options.js';
import type { ServiceAccountTokenIssuer } from '../../machinery/security.js';
import type { Logger } from '../../observability/logger.js';
import type { GroupContext } from '../../registry/group-context.js';
import type { TokenAuthenticator } from '../token-authenticator.js';
import { type IssuerDocuments, issuerDocuments } from './issuer-documents.js';
import { ServiceAccountTokenAuthenticator, type TokenUseCounters } from './service-account-token.authenticator.js';
import { readSigningKey, type SigningKey, TokenIssuer } from './token-issuer.js';
import { KeyFileError, readVerificationKeys, type VerificationKey } from './verification-keys.js';

/** Tokens of service accounts as the options want them. */
export interface ServiceAccounts {
  readonly methods: readonly TokenAuthenticator[];
  readonly issuer: ServiceAccountTokenIssuer | undefined;
  readonly documents: IssuerDocuments | undefined;
}

interface Parts extends Pick<GroupContext, 'storage' | 'names' | 'clock'> {
  readonly logger: Logger;
  readonly servingKeyFile: string;
  readonly keySetUrl: string;
  readonly issuers: readonly string[];
  readonly apiAudiences: readonly string[];
  readonly counters: TokenUseCounters;
}

/** Reads the keys and makes what checks and signs with them; throws when a configured key file is unusable. */
export function buildServiceAccounts(options: AuthenticationOptions, parts: Parts): ServiceAccounts {
  const { names, clock, storage, issuers, apiAudiences, counters } = parts;
  const { serviceAccountSigningKeyFile, serviceAccountMaxTokenExpiration: maxMs } = options;
  const signingKey =
    serviceAccountSigningKeyFile === undefined ? undefined : readSigningKey(serviceAccountSigningKeyFile);
  const keys = verificationKeys(options, signingKey, parts);
  const issuer =
    signingKey &&
    new TokenIssuer({
      signingKey,
      issuer: issuers[0] as string,
      audiences: apiAudiences,
      extendExpiration: options.serviceAccountExtendTokenExpiration,
      maxExpirationSeconds: maxMs === 0 ? undefined : Math.floor(maxMs / 1000),
      names,
      clock,
    });
  const lookup = options.serviceAccountLookup;
  const settings = { keys, issuers, apiAudiences, lookup, storage, names, clock, counters };
  const documents = issuerDocuments(issuers[0] as string, options.serviceAccountJwksUri ?? parts.keySetUrl, keys);
  const methods = keys.length === 0 ? [] : [new ServiceAccountTokenAuthenticator(settings)];
  return { methods, issuer, documents };
}

function verificationKeys(
  options: AuthenticationOptions,
  signingKey: SigningKey | undefined,
  { servingKeyFile, logger }: Parts,
): VerificationKey[] {
  const files = options.serviceAccountKeyFile;
  const found = files.length > 0 ? files.flatMap(readVerificationKeys) : servingKeys(servingKeyFile, logger);
  if (signingKey !== undefined) found.unshift(signingKey.verification);
  return [...new Map(found.map((key) => [key.id, key])).values()];
}

/** A serving key of a kind that signs no tokens is no reason not to start. */
function servingKeys(file: string, logger: Logger): VerificationKey[] {
  try {
    return readVerificationKeys(file);
  } catch (error) {
    if (!(error instanceof KeyFileError)) throw error;
    logger.warn('service account tokens are not checked with the serving key', { problem: error.message });
    return [];
  }
}
