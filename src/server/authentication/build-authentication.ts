import type { Registry } from 'prom-client';
import type { AuthenticationOptions } from '../../base/config/authentication.options.js';
import { DocumentError } from '../../base/config/document-error.js';
import { readDocumentFile } from '../../base/config/document-fields.js';
import type { Clock } from '../../base/machinery/clock.js';
import { StartupError } from '../../base/machinery/startup-error.js';
import { systemTimers } from '../../base/machinery/timers.js';
import type { ServiceAccountTokenIssuer, TokenReviewer } from '../../base/machinery/tokens.js';
import type { VendorNames } from '../../base/machinery/vendor.js';
import type { Logger } from '../../base/observability/logger.js';
import { ReloadMetrics } from '../../base/observability/reload-metrics.js';
import { ChangeInformer } from '../../objects/registry/informers/change-informer.js';
import type { StoredResources } from '../../objects/registry/store/object-codec.js';
import type { Storage } from '../../storage/storage.interface.js';
import { AuthenticationMetrics } from './authentication-metrics.js';
import type { Authenticator } from './authenticator.js';
import { BearerTokenAuthenticator } from './bearer-token/bearer-token.authenticator.js';
import { FailedAttempts } from './bearer-token/failed-attempts.js';
import { TokenFileAuthenticator } from './bearer-token/token-file.authenticator.js';
import { BootstrapTokenAuthenticator } from './bootstrap-token/bootstrap-token.authenticator.js';
import { type AnonymousRule, readAuthenticationConfiguration } from './configuration/authentication-document.js';
import { configurationDependency, LiveAuthentication } from './configuration/live-authentication.js';
import { buildOidc } from './oidc/build-oidc.js';
import { buildRequestHeader } from './request-header/build-request-header.js';
import { tokenResources } from './service-account/account-objects.js';
import { buildServiceAccounts } from './service-account/build-service-accounts.js';
import type { IssuerDocuments } from './service-account/issuer-documents.js';
import type { SecretTokenUsesDependencies } from './service-account/secret-token-uses.js';
import { dependencyOf, type TokenAuthenticator } from './token-authenticator.js';
import { TokenCache } from './token-cache.js';
import { TokenReviews } from './token-reviews.js';
import { TokenUnion } from './token-union.js';
import { UnionAuthenticator } from './union.authenticator.js';
import { buildTokenWebhook } from './webhook/build-token-webhook.js';
import { CertificateWatch } from './x509/certificate-watch.js';
import { ClientCertificateAuthenticator } from './x509/client-certificate.authenticator.js';
import { LiveRevocations } from './x509/live-revocations.js';
import { RevocationMetrics } from './x509/revocation-metrics.js';
import type { TlsFiles } from './x509/tls-files.js';

/** Limits of the cache of bearer tokens. */
const tokenCacheLimits = { ttlMs: 10_000, maxEntries: 20_000 } as const;

/** Dependencies of the methods. */
export interface AuthenticationDependencies {
  readonly names: VendorNames;
  readonly registry: StoredResources;
  readonly clock: Clock;
  /**
   * Reads the objects that tokens depend on. Reads go to the database itself, since a token becomes invalid with the
   * objects it is bound to.
   */
  readonly storage: Storage;
  readonly logger: Logger;
  readonly metrics: Registry;
  /** Its pool `client` holds the CA certificates for client certificates. */
  readonly tls: TlsFiles;
  /** Key of the serving certificate. It checks service account tokens when no other key is configured. */
  readonly servingKeyFile: string;
  /** The name of this process, for metrics. */
  readonly processId: string;
  /** Returns the store of secrets; called when a token is used. */
  readonly secrets: SecretTokenUsesDependencies['secrets'];
  /** URL under which other parties find this server's key set. */
  readonly keySetUrl: string;
}

/** Injection token of the {@link Authentication}. */
export const AUTHENTICATION = Symbol('Authentication');

/** The configured methods, ready for requests. */
export interface Authentication {
  readonly authenticator: Authenticator;
  readonly tokens: TokenReviewer;
  readonly issuer: ServiceAccountTokenIssuer | undefined;
  /** The issuer's discovery document and key set; undefined when the issuer can't publish any. */
  readonly issuerDocuments: IssuerDocuments | undefined;
  readonly metrics: AuthenticationMetrics;
  /** Decides for which requests without credentials the anonymous user is currently allowed. */
  readonly anonymous: AnonymousRule;
  /** Resolves once the process follows changes to stored objects; background work continues. */
  start(): Promise<void>;
  /** Stops the background work; call it after the last request. */
  stop(): Promise<void>;
}

/** Sets up every method that the options enable (specification 5.2). Throws when one of their files is unusable. */
export function buildAuthentication(
  options: AuthenticationOptions,
  dependencies: AuthenticationDependencies,
): Authentication {
  const { clock, logger, names, tls } = dependencies;
  const metrics = new AuthenticationMetrics(dependencies.metrics);
  const issuers = options.serviceAccountIssuer.length > 0 ? options.serviceAccountIssuer : [names.defaultTokenIssuer];
  const apiAudiences = Object.freeze([...(options.apiAudiences.length > 0 ? options.apiAudiences : issuers)]);

  const tokenMethods: TokenAuthenticator[] = [];
  if (options.tokenAuthFile !== undefined) {
    tokenMethods.push(TokenFileAuthenticator.fromFile(options.tokenAuthFile, apiAudiences));
  }
  const accounts = buildServiceAccounts(options, { ...dependencies, issuers, apiAudiences, counters: metrics });
  tokenMethods.push(...accounts.methods);
  const oidc = buildOidc(options, { clock, logger, apiAudiences, credentialPrefix: names.credentialPrefix });
  if (oidc !== undefined) tokenMethods.push(oidc.method);
  const forget = () => tokens.changed(configurationDependency);
  const configured = buildConfigured(options, dependencies, issuers, apiAudiences, forget);
  if (configured !== undefined) tokenMethods.push(configured);

  if (options.enableBootstrapTokenAuth) tokenMethods.push(new BootstrapTokenAuthenticator(dependencies, apiAudiences));
  const webhook = buildTokenWebhook(options, { names, clock, logger, apiAudiences });
  // The webhook comes last: it is the only method that sends unknown tokens to another server.
  if (webhook !== undefined) tokenMethods.push(webhook.method);

  const flagRule: AnonymousRule = { isEnabled: options.anonymousAuth, paths: [] };
  const tokens: TokenCache = new TokenCache(new TokenUnion(tokenMethods, logger), clock, tokenCacheLimits, metrics);
  // Clears the token cache: the key of a cached token may have been removed.
  accounts.files.onChange(() => tokens.missed());
  const now = () => clock.now();
  const revocations = buildRevocations(options, now, logger, dependencies.metrics);
  const certificates = new CertificateWatch({
    inUse: () => [...tls.expiring(), ...(revocations?.expiring() ?? [])],
    now,
    logger,
    metrics: dependencies.metrics,
  });
  const methods = certificateMethods(options, tls, now, metrics, revocations);
  methods.push(new BearerTokenAuthenticator(tokens, apiAudiences, now, failedAttempts(options, metrics)));
  const running = new AbortController();
  const background = [accounts.files, oidc, configured, revocations, certificates];
  const informers = buildInformers(dependencies, tokens);
  return {
    authenticator: new UnionAuthenticator(methods),
    tokens: new TokenReviews(tokens, apiAudiences),
    issuer: accounts.issuer,
    get issuerDocuments() {
      return accounts.documents;
    },
    metrics,
    get anonymous() {
      return configured?.anonymous ?? flagRule;
    },
    start: async () => {
      for (const part of background) part?.start(running.signal);
      await Promise.all(informers.map((informer) => informer.start(running.signal)));
    },
    stop: async () => {
      running.abort();
      webhook?.stop();
      for (const part of background) await part?.stopped();
      await Promise.all(informers.map((informer) => informer.stopped()));
    },
  };
}

function failedAttempts(options: AuthenticationOptions, metrics: AuthenticationMetrics): FailedAttempts {
  return new FailedAttempts({
    perSecond: options.maxFailedBootstrapTokensPerAddress,
    elapsed: systemTimers.elapsed,
    onRefused: () => metrics.refusedAttempt(),
  });
}

function certificateMethods(
  options: AuthenticationOptions,
  tls: TlsFiles,
  now: () => number,
  metrics: AuthenticationMetrics,
  revocations: LiveRevocations | undefined,
): Authenticator[] {
  const clientPool = tls.pool('client');
  const proxyPool = tls.pool('proxy');
  const methods: Authenticator[] = [];
  // Proxies are checked before users: a certificate that both pools accept is treated as a proxy's.
  if (proxyPool !== undefined) methods.push(buildRequestHeader(options, proxyPool, now, revocations));
  if (clientPool !== undefined) methods.push(new ClientCertificateAuthenticator(clientPool, now, metrics, revocations));
  return methods;
}

/** Informers of the objects that tokens depend on: the cache drops the tokens of an object that changes. */
function buildInformers(
  { storage, logger }: AuthenticationDependencies,
  tokens: TokenCache,
): readonly ChangeInformer[] {
  return tokenResources.map(
    (resource) =>
      new ChangeInformer(
        storage,
        resource,
        {
          changed: ({ namespace, name }) => tokens.changed(dependencyOf(resource, namespace, name)),
          missed: () => tokens.missed(),
        },
        (error) => logger.warn('authentication lost its place in the change log', { resource, error }),
      ),
  );
}

/** The issuers of `--authentication-config`. @throws StartupError with all problems of the file. */
function buildConfigured(
  { authenticationConfig: file, anonymousAuth }: AuthenticationOptions,
  { names, clock, logger, metrics, processId }: AuthenticationDependencies,
  serviceAccountIssuers: readonly string[],
  apiAudiences: readonly string[],
  onChange: () => void,
): LiveAuthentication | undefined {
  if (file === undefined) return undefined;
  const options = {
    suffix: names.suffix,
    serviceAccountIssuers,
    reservedDomains: [...new Set([names.suffix, 'k8s.io', 'kubernetes.io'])],
  };
  const load = () => {
    const configuration = readAuthenticationConfiguration(readDocumentFile(file), options);
    if (configuration.anonymous !== undefined && !anonymousAuth) {
      throw new DocumentError(["anonymous: Forbidden: can't be set together with --anonymous-auth"]);
    }
    return configuration;
  };
  try {
    return new LiveAuthentication(file, {
      clock,
      logger,
      apiAudiences,
      load,
      onChange,
      credentialPrefix: names.credentialPrefix,
      metrics: new ReloadMetrics(metrics, 'authentication', processId),
    });
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    throw new StartupError(error.problems.map((problem) => `--authentication-config ${file}: ${problem}`).join('; '));
  }
}

/** The certificate revocation lists of `--client-crl-file`. @throws StartupError when they can't be used. */
function buildRevocations(
  options: AuthenticationOptions,
  now: () => number,
  logger: Logger,
  metrics: Registry,
): LiveRevocations | undefined {
  const { clientCrlFile: lists, clientCaFile, requestheaderClientCaFile, clientCrlExpiredPolicy: expired } = options;
  if (lists === undefined) return undefined;
  const authorities = [clientCaFile, requestheaderClientCaFile].filter((file) => file !== undefined);
  try {
    return new LiveRevocations({ lists, authorities, expired }, now, logger, new RevocationMetrics(metrics));
  } catch (error) {
    throw new StartupError(`--client-crl-file ${(error as Error).message}`);
  }
}
