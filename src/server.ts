import type { Http2SecureServer } from 'node:http2';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { buildAdmission } from './admission/build-admission.js';
import { buildAdvertiser } from './advertise/build-advertiser.js';
import { metaKinds } from './apis/meta/v1/meta-kinds.js';
import { AppModule } from './app.module.js';
import { AuthenticationGuard } from './authentication/authentication.guard.js';
import { buildAuthentication } from './authentication/build-authentication.js';
import { ImpersonationGuard } from './authentication/impersonation/impersonation.guard.js';
import { AuthorityPublisher } from './authentication/request-header/authority-publisher.js';
import { checkProxyAuthorities } from './authentication/request-header/build-request-header.js';
import { TlsFiles } from './authentication/x509/tls-files.js';
import { AuthorizationGuard } from './authorization/authorization.guard.js';
import { buildAuthorization } from './authorization/build-authorization.js';
import type { ServerOptions } from './config/options.js';
import { OptionsError } from './config/parse-options.js';
import { RuntimeConfig } from './config/runtime-config.js';
import { ClientLimits } from './endpoints/client-limits.js';
import { ConnectionTracker } from './endpoints/connection-tracker.js';
import { versionInfo } from './endpoints/discovery/version-info.js';
import { type HealthState, serverHealthChecks } from './endpoints/health/server-health.js';
import { keepAllFields, listenerOptions } from './endpoints/listener.js';
import { InFlightGuard } from './endpoints/request-info/in-flight.guard.js';
import { InFlightLimiter } from './endpoints/request-info/in-flight.js';
import { registerRequestHooks } from './endpoints/request-info/request-info.hook.js';
import { hostAddress } from './endpoints/service-account-issuer/host-address.js';
import { issuerDocumentPaths } from './endpoints/service-account-issuer/service-account-issuer.controller.js';
import { EndpointServices } from './endpoints/services.js';
import { StatusFilter } from './endpoints/status.filter.js';
import { UnreadAnswers } from './endpoints/unread-answers.js';
import { acceptWebSockets } from './endpoints/web-sockets.js';
import { LargeLane } from './large/large-lane.js';
import { systemClock } from './machinery/clock.js';
import type { ServiceAccountTokenIssuer } from './machinery/security.js';
import { StatusError } from './machinery/status-error.js';
import { vendorNames } from './machinery/vendor.js';
import { ensureSystemObjects } from './modules/core/bootstrap.js';
import { ensureSystemPriorityClasses } from './modules/scheduling/bootstrap.js';
import { Logger } from './observability/logger.js';
import { Metrics, type MetricsWorker } from './observability/metrics.js';
import { openStorage, tellWaiting } from './program/open-storage.js';
import type { GroupContext } from './registry/group-context.js';
import { NamespaceIndex } from './registry/namespace-index.js';
import { StorageReader } from './registry/object-reader.js';
import { ResourceRegistry } from './registry/resource-registry.js';
import { isNotReadyYet, untilReady } from './storage/until-ready.js';

const maxBodyBytes = 3 * 1024 * 1024;
/** Answers that one connection may leave unread, besides those it asks for at the same moment. */
const maxUnreadBytes = 16 * 1024 * 1024;
const listPageSize = 500;
/** Idle connections get this long for a request that is on its way when the server stops. */
const lingerMs = 500;
/** Clients get this long to read the end of their watches. */
const watchDrainMs = 10_000;

/** What a process needs to know when it is one of several behind the same port. */
export type WorkerIdentity = MetricsWorker;

/** A serving process, running. */
export interface RunningServer {
  readonly url: string;
  readonly metrics: Metrics;
  /** What control loops in the same process work with. */
  readonly context: GroupContext;
  readonly logger: Logger;
  /**
   * Fails readiness and waits the configured delay, still serving; then accepts no more, ends watches, lets open requests
   * finish within their time limit, and closes storage.
   */
  stop(): Promise<void>;
}

/**
 * Starts serving the API: storage first, then what must be in memory before the first request, then the listener. Waits
 * for a database that is not ready yet, until `signal` is aborted. Rejects with the reason when any of it can't be had;
 * nothing stays open then.
 */
export async function startServer(
  options: ServerOptions,
  worker?: WorkerIdentity,
  signal: AbortSignal = new AbortController().signal,
): Promise<RunningServer> {
  const { logLevel, logFormat } = options.logging;
  const logger = new Logger(logLevel, logFormat, undefined, worker === undefined ? {} : { worker: worker.index });
  const { api } = options;
  const names = vendorNames(options.cluster.vendor, options.cluster.compat);
  const metrics = new Metrics(worker);
  const shutdown = new AbortController();
  const { database, storage, stop: stopStorage } = await openStorage(options.storage, metrics, logger, signal);
  const giveUp = () => shutdown.abort();
  signal.addEventListener('abort', giveUp);
  const whenReady = <T>(step: () => Promise<T>): Promise<T> =>
    untilReady(step, { signal, onWait: (error) => tellWaiting(logger, error), passes: isPassing });
  const state: HealthState = { startedAt: Date.now(), isStarted: false, isStopping: false };
  let stopAuthentication = async (): Promise<void> => undefined;
  try {
    const runtimeConfig = RuntimeConfig.of(options.cluster.runtimeConfig);
    const registry = new ResourceRegistry(runtimeConfig.isServed);
    const { bindAddress, securePort, tlsCertFile, tlsPrivateKeyFile } = options.secureServing;
    const tls = new TlsFiles(
      {
        certificate: tlsCertFile,
        privateKey: tlsPrivateKeyFile,
        clientAuthorities: {
          client: options.authentication.clientCaFile,
          proxy: options.authentication.requestheaderClientCaFile,
        },
      },
      (authorities) => checkProxyAuthorities(options.authentication, authorities),
      logger,
    );
    const authentication = buildAuthentication(options.authentication, {
      storage: database,
      registry,
      names,
      clock: systemClock,
      logger,
      metrics: metrics.registry,
      tls,
      servingKeyFile: tlsPrivateKeyFile,
      keySetUrl: `https://${hostAddress(bindAddress)}:${securePort}/openid/v1/jwks`,
    });
    const authorization = buildAuthorization(options.authorization, {
      storage,
      registry,
      names,
      clock: systemClock,
      logger,
    });
    const { authorizer, rules } = authorization;
    const { tokens, issuer } = authentication;
    const context: GroupContext = {
      registry,
      storage,
      clock: systemClock,
      names,
      security: { authorizer, rules, tokens, issuer },
      serviceClusterIpRange: options.cluster.serviceClusterIpRange,
      serviceNodePortRange: options.cluster.serviceNodePortRange,
    };
    const endpointOptions = {
      maxBodyBytes,
      minRequestTimeoutSeconds: options.api.minRequestTimeoutSeconds,
      maxConnectionBytesPerSecond: api.maxConnectionBytesPerSecond,
      listPageSize,
      shutdown: shutdown.signal,
      documentPaths: () => (authentication.issuerDocuments === undefined ? [] : issuerDocumentPaths),
      continueKey: await whenReady(() => database.serverKey('continue-token')),
    };
    const services = new EndpointServices(registry, storage, systemClock, names, metrics, endpointOptions, metaKinds);
    const namespaces = new NamespaceIndex(storage, registry, (error) =>
      logger.warn('namespace index lost its place', { error }),
    );
    const largeLane = new LargeLane(
      {
        cluster: options.cluster,
        admission: options.admission,
        logging: options.logging,
        continueKey: endpointOptions.continueKey,
        maxBodyBytes,
        listPageSize,
        issuer: issuer === undefined ? undefined : issuerFacts(issuer),
      },
      { storage, security: context.security, namespaces },
      logger,
    );
    services.largeLane = largeLane;
    const admission = buildAdmission(options.admission, {
      names,
      authorizer,
      namespaces,
      objects: new StorageReader(storage, registry),
    });
    const filter = new StatusFilter(logger, services);
    const adapter = new FastifyAdapter(
      listenerOptions(
        { ...options.secureServing, tls: tls.listenerOptions(), maxBodyBytes, requestTimeoutMs: api.requestTimeoutMs },
        filter,
      ) as ConstructorParameters<typeof FastifyAdapter>[0],
    );
    const connections = new ConnectionTracker();
    const clients = new ClientLimits({
      connections: options.secureServing.maxConnectionsPerAddress,
      requests: options.secureServing.maxRequestsPerAddress,
    });
    const unread = new UnreadAnswers({ patienceMs: api.unreadAnswerTimeoutMs, connectionBytes: maxUnreadBytes });
    const app = await NestFactory.create<NestFastifyApplication>(
      AppModule.of({
        services,
        groupContext: context,
        issuerDocuments: () => authentication.issuerDocuments,
        guards: [
          new AuthenticationGuard(
            authentication.authenticator,
            options.authentication.anonymousAuth,
            authentication.metrics,
            logger,
          ),
          new ImpersonationGuard(authorizer, names),
          new InFlightGuard(
            new InFlightLimiter(
              {
                readOnly: api.maxRequestsInflight,
                mutating: api.maxMutatingRequestsInflight,
                unauthenticated: api.maxUnauthenticatedRequestsInflight,
              },
              metrics,
            ),
          ),
          new AuthorizationGuard(authorizer),
        ],
        admission,
        healthChecks: [
          ...serverHealthChecks(storage, state, options.api.livezGracePeriodMs),
          ...authorization.healthChecks,
        ],
        version: versionInfo(),
        filter,
        logger,
      }),
      adapter,
      { bodyParser: false, logger: false, abortOnError: false },
    );
    const fastify = adapter.getInstance() as unknown as FastifyInstance;
    // Bodies stay unread until the handler asks for them, after authorization.
    fastify.removeAllContentTypeParsers();
    fastify.addContentTypeParser('*', (_request: unknown, _payload: unknown, done: (error: null) => void) =>
      done(null),
    );
    const inFlight = registerRequestHooks(
      fastify,
      {
        unread,
        clients,
        requestTimeoutMs: options.api.requestTimeoutMs,
        goawayChance: options.secureServing.goawayChance,
      },
      metrics,
      filter,
      connections,
    );
    await app.init();
    checkRuntimeConfig(runtimeConfig, registry, logger);

    await namespaces.start(shutdown.signal);
    await authorization.start(shutdown.signal);
    stopAuthentication = () => authentication.stop();
    await whenReady(() => authentication.start());
    await whenReady(() => ensureSystemObjects(context, options.secureServing.securePort));
    await whenReady(() => ensureSystemPriorityClasses(context));
    const authorities = new AuthorityPublisher(context, options.authentication, tls, logger);
    await whenReady(() => authorities.publish());
    tls.onChange(() => authorities.publishSoon(shutdown.signal));
    const listener = fastify.server as unknown as Http2SecureServer;
    keepAllFields(listener);
    acceptWebSockets(listener, (request, response) => fastify.routing(request as never, response as never));
    clients.watch(listener);
    connections.watch(listener);
    tls.start(listener, shutdown.signal);
    await app.listen(securePort, bindAddress);
    const prepared = authorization.prepare(context, shutdown.signal);
    const advertiser = await buildAdvertiser(context, options.secureServing, logger);
    advertiser.start();
    // From now on the caller's stop() does it, in its order.
    signal.removeEventListener('abort', giveUp);
    state.isStarted = true;
    const url = `https://${bindAddress.includes(':') ? `[${bindAddress}]` : bindAddress}:${securePort}`;
    logger.info('serving', { url });

    let stopping: Promise<void> | undefined;
    const stop = async () => {
      state.isStopping = true;
      logger.info('stopping', { delayMs: options.api.shutdownDelayMs });
      await advertiser.withdraw();
      await new Promise((resolve) => setTimeout(resolve, options.api.shutdownDelayMs));
      shutdown.abort();
      await connections.drain(listener, {
        lingerMs,
        requestsMs: options.api.requestTimeoutMs,
        watchesMs: Math.min(watchDrainMs, options.api.requestTimeoutMs),
        requestsUnderWay: () => inFlight.underWay,
      });
      await app.close();
      unread.stop();
      await namespaces.stopped();
      await prepared;
      await authorization.stopped();
      await stopAuthentication();
      await tls.stopped();
      await authorities.stopped();
      await largeLane.stop();
      await stopStorage();
      logger.info('stopped');
    };
    return {
      url,
      metrics,
      context,
      logger,
      stop: () => {
        stopping ??= stop();
        return stopping;
      },
    };
  } catch (error) {
    shutdown.abort();
    await stopAuthentication();
    await stopStorage();
    throw error;
  }
}

/** Answers of the stores count as well as errors of storage. */
function isPassing(error: unknown): boolean {
  return isNotReadyYet(error) || (error instanceof StatusError && [503, 504].includes(error.code));
}

/** What is known of an issuer without asking it. */
function issuerFacts({ audiences, maxExpirationSeconds }: ServiceAccountTokenIssuer) {
  return { audiences, ...(maxExpirationSeconds === undefined ? {} : { maxExpirationSeconds }) };
}

/** Keys that name nothing are found out once all resources are there. */
function checkRuntimeConfig(config: RuntimeConfig, registry: ResourceRegistry, logger: Logger): void {
  const known = registry
    .definitions()
    .flatMap(({ group, resource, versions }) => versions.map(({ version }) => ({ group, version, resource })));
  const problems = config.unknownKeys(known);
  if (problems.length > 0) throw new OptionsError(problems);
  for (const warning of config.warnings()) logger.warn(warning);
}
