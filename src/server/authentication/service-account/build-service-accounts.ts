import type { AuthenticationOptions } from '../../../base/config/authentication.options.js';
import { LiveFiles } from '../../../base/config/live-files.js';
import type { Clock } from '../../../base/machinery/clock.js';
import type { ServiceAccountTokenIssuer } from '../../../base/machinery/tokens.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { Logger } from '../../../base/observability/logger.js';
import type { StoredResources } from '../../../objects/registry/store/object-codec.js';
import type { Storage } from '../../../storage/storage.interface.js';
import type { TokenAuthenticator } from '../token-authenticator.js';
import { type IssuerDocuments, issuerDocuments } from './issuer-documents.js';
import { KeyFileError } from './key-file-error.js';
import { SecretTokenUses, type SecretTokenUsesDependencies } from './secret-token-uses.js';
import { ServiceAccountTokenAuthenticator, type TokenUseCounters } from './service-account-token.authenticator.js';
import { readSigningKey, type SigningKey, TokenIssuer } from './token-issuer.js';
import { readVerificationKeys, type VerificationKey } from './verification-keys.js';

/** Signing and verification of service account tokens, set up according to the options. */
export interface ServiceAccounts {
  readonly methods: readonly TokenAuthenticator[];
  readonly issuer: ServiceAccountTokenIssuer | undefined;
  /** Discovery documents with the current keys; undefined for an issuer that can't publish any. */
  readonly documents: IssuerDocuments | undefined;
  /** The key files, watched for changes. */
  readonly files: LiveFiles<TokenKeys>;
}

/** The keys that tokens are signed and verified with. */
export interface TokenKeys {
  readonly signing: SigningKey | undefined;
  readonly verification: readonly VerificationKey[];
}

interface Parts {
  readonly storage: Storage;
  readonly names: VendorNames;
  readonly registry: StoredResources;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly servingKeyFile: string;
  readonly keySetUrl: string;
  readonly issuers: readonly string[];
  readonly apiAudiences: readonly string[];
  readonly counters: TokenUseCounters;
  readonly secrets: SecretTokenUsesDependencies['secrets'];
}

/** Reads the keys and sets up signing and verification. Throws when a configured key file is unusable. */
export function buildServiceAccounts(options: AuthenticationOptions, parts: Parts): ServiceAccounts {
  const { names, clock, storage, registry, logger, issuers, apiAudiences, counters } = parts;
  const { serviceAccountSigningKeyFile, serviceAccountMaxTokenExpiration: maxMs } = options;
  const files = new LiveFiles<TokenKeys>({
    paths: keyFiles(options, parts),
    load: () => readKeys(options, parts),
    logger,
    subject: 'keys of service account tokens',
  });
  const issuer =
    serviceAccountSigningKeyFile === undefined
      ? undefined
      : new TokenIssuer({
          signingKey: () => files.current.signing as SigningKey,
          issuer: issuers[0] as string,
          audiences: apiAudiences,
          extendExpiration: options.serviceAccountExtendTokenExpiration,
          maxExpirationSeconds: maxMs === 0 ? undefined : Math.floor(maxMs / 1000),
          names,
          clock,
        });
  const lookup = options.serviceAccountLookup;
  const { verification: keys } = files.current;
  const method = new ServiceAccountTokenAuthenticator({
    keys,
    issuers,
    apiAudiences,
    lookup,
    storage,
    registry,
    names,
    clock,
    counters,
    uses: new SecretTokenUses({ names, clock, logger, secrets: parts.secrets }),
  });
  const documentsOf = ({ verification }: TokenKeys) =>
    issuerDocuments(issuers[0] as string, options.serviceAccountJwksUri ?? parts.keySetUrl, verification);
  let documents = documentsOf(files.current);
  files.onChange((changed) => {
    method.useKeys(changed.verification);
    documents = documentsOf(changed);
  });
  return {
    methods: keys.length === 0 ? [] : [method],
    issuer,
    get documents() {
      return documents;
    },
    files,
  };
}

function keyFiles(options: AuthenticationOptions, { servingKeyFile }: Parts): readonly string[] {
  const { serviceAccountSigningKeyFile: signing, serviceAccountKeyFile: files } = options;
  return [...(signing === undefined ? [] : [signing]), ...(files.length > 0 ? files : [servingKeyFile])];
}

function readKeys(options: AuthenticationOptions, { servingKeyFile, logger }: Parts): TokenKeys {
  const { serviceAccountSigningKeyFile, serviceAccountKeyFile: files } = options;
  const signing = serviceAccountSigningKeyFile === undefined ? undefined : readSigningKey(serviceAccountSigningKeyFile);
  const found = files.length > 0 ? files.flatMap(readVerificationKeys) : servingKeys(servingKeyFile, logger);
  if (signing !== undefined) found.unshift(signing.verification);
  return { signing, verification: [...new Map(found.map((key) => [key.id, key])).values()] };
}

/**
 * The public serving key as a verification key; empty if its type can't sign tokens, since the server must start
 * anyway.
 */
function servingKeys(file: string, logger: Logger): VerificationKey[] {
  try {
    return readVerificationKeys(file);
  } catch (error) {
    if (!(error instanceof KeyFileError)) throw error;
    logger.warn('service account tokens are not checked with the serving key', { problem: error.message });
    return [];
  }
}
