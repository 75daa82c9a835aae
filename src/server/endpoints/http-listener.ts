import type { Http2SecureServer } from 'node:http2';
import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { ApiOptions } from '../../base/config/api.options.js';
import { DebuggingOptions } from '../../base/config/debugging.options.js';
import { SecureServingOptions } from '../../base/config/secure-serving.options.js';
import { PacedReads } from '../../base/machinery/paced-reads.js';
import { PacedRequests } from '../../base/machinery/paced-requests.js';
import { Logger } from '../../base/observability/logger.js';
import { Metrics } from '../../base/observability/metrics.js';
import { AUDITOR, type Auditor } from '../audit/auditor.js';
import { TlsFiles } from '../authentication/x509/tls-files.js';
import { ClientLimits } from './client-limits.js';
import { ConnectionCuts } from './connection-cuts.js';
import { ConnectionTracker } from './connection-tracker.js';
import { browserHeaders } from './cross-origin.js';
import { profilePrefix } from './debug/debug.controller.js';
import { EndedSessions } from './ended-sessions.js';
import { EndpointServices } from './endpoint-services.js';
import { HandshakeLimits } from './handshake-limits.js';
import { keepAllFields, leaveBodies, receiveAhead, speakHttp1Only } from './listener.js';
import { PacedHandshakes } from './paced-handshakes.js';
import { RefusedHeads } from './refused-heads.js';
import { mayBeLongRunning, mayUpgrade } from './remote/remote-requests.js';
import { type RequestsUnderWay, registerRequestHooks } from './request-info/request-info.hook.js';
import { ServingState } from './serving-state.js';
import { StatusFilter } from './status.filter.js';
import { type RunningTracer, TRACER } from './tracing.module.js';
import { UnreadAnswers } from './unread-answers.js';
import { acceptWebSockets } from './web-sockets.js';

/** Maximum number of bytes that one connection may leave unread, not counting the responses to concurrent requests. */
const maxUnreadBytes = 16 * 1024 * 1024;
/**
 * Maximum number of bytes that all connections together may leave unread; above that, the connections with the most are
 * cut.
 */
const maxUnreadBytesInAll = 512 * 1024 * 1024;
/** On shutdown, idle connections are kept this long for a request that may be on its way. */
const lingerMs = 500;
/** On shutdown, clients get this long to read the end of their watches. */
const watchDrainMs = 10_000;

/**
 * The parts of the listener besides routes: the hooks that run before every request, open connections, changing
 * certificates and an orderly shutdown.
 */
@Injectable()
export class HttpListener
  implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown, OnApplicationShutdown
{
  private readonly connections = new ConnectionTracker();
  private readonly clients: ClientLimits;
  private requests: RequestsUnderWay | undefined;

  // Nest passes each dependency as a parameter; an object would need a factory with the same list.
  constructor(
    @Inject(HttpAdapterHost) private readonly host: HttpAdapterHost,
    @Inject(ServingState) private readonly state: ServingState,
    @Inject(ApiOptions) private readonly api: ApiOptions,
    @Inject(SecureServingOptions) private readonly serving: SecureServingOptions,
    @Inject(TlsFiles) private readonly tls: TlsFiles,
    @Inject(StatusFilter) private readonly filter: StatusFilter,
    @Inject(Metrics) private readonly metrics: Metrics,
    @Inject(Logger) private readonly logger: Logger,
    @Inject(DebuggingOptions) private readonly debugging: DebuggingOptions,
    @Inject(TRACER) private readonly tracer: RunningTracer | undefined,
    @Inject(EndpointServices) private readonly services: EndpointServices,
    @Inject(AUDITOR) private readonly auditor: Auditor | undefined,
    @Inject(ConnectionCuts) private readonly cuts: ConnectionCuts,
  ) {
    this.clients = new ClientLimits({
      connections: serving.maxConnectionsPerAddress,
      requests: serving.maxRequestsPerAddress,
    });
  }

  onModuleInit(): void {
    const { fastify, api } = this;
    leaveBodies(fastify);
    this.metrics.expectRequests();
    this.requests = registerRequestHooks(
      fastify,
      {
        unread: new UnreadAnswers(
          {
            patienceMs: api.unreadAnswerTimeoutMs,
            connectionBytes: maxUnreadBytes,
            totalBytes: maxUnreadBytesInAll,
          },
          undefined,
          this.cuts.note,
        ),
        clients: this.clients,
        noteCut: this.cuts.note,
        auditor: this.auditor,
        requestTimeoutMs: api.requestTimeoutMs,
        tracer: this.tracer,
        slowMs: this.debugging.slowRequestThresholdMs,
        logger: this.logger,
        goawayChance: this.serving.goawayChance,
        browser: browserHeaders({
          allowedOrigins: api.corsAllowedOrigins,
          strictTransport: api.strictTransportSecurityDirectives,
        }),
        isLongRunning: (context, response) =>
          context.requestInfo.path.startsWith(profilePrefix) ||
          mayBeLongRunning(this.services.aggregation, context, response),
      },
      this.metrics,
      this.filter,
      this.connections,
    );
  }

  onApplicationBootstrap(): void {
    const { fastify, server } = this;
    keepAllFields(server);
    receiveAhead(server);
    if (this.serving.disableHttp2Serving) speakHttp1Only(server);
    server.on('tlsClientError', () => this.metrics.tlsHandshakeFailed());
    const paced = PacedRequests.watch(server);
    acceptWebSockets(
      server,
      (request, response) => fastify.routing(request as never, response as never),
      this.logger,
      (url) => mayUpgrade(this.services.aggregation, url),
      (upgrade) => paced.add(upgrade),
    );
    const { note } = this.cuts;
    this.clients.watch(server, note);
    this.connections.watch(server);
    new EndedSessions(undefined, undefined, note).watch(server);
    new RefusedHeads(note).watch(server);
    new PacedReads(note).watch(server);
    const handshakes = new HandshakeLimits(note);
    handshakes.watch(server);
    // Added last, so that connections above the limits are already closed.
    PacedHandshakes.watch(server, (socket) => handshakes.begun(socket));
    this.tls.start(server, this.state.ended);
  }

  /** Makes clients reconnect, so that they spread over new processes (see `ConnectionTracker.spread`). */
  spreadConnections(): void {
    this.connections.spread();
  }

  /** Makes readiness fail before anything else stops. */
  onModuleDestroy(): void {
    // An application that never listened has no clients to inform.
    if (!this.state.isStarted) return;
    this.state.markStopping();
    this.logger.info('stopping', { delayMs: this.api.shutdownDelayMs });
  }

  /**
   * Keeps serving for the configured delay. Then stops accepting, ends watches, and lets open requests finish within
   * their time limit. All dependencies of requests stop after this.
   */
  async beforeApplicationShutdown(): Promise<void> {
    const { requestTimeoutMs, shutdownDelayMs } = this.api;
    if (this.state.isStopping) await new Promise((resolve) => setTimeout(resolve, shutdownDelayMs));
    this.state.markEnded();
    await this.connections.drain(this.server, {
      lingerMs,
      requestsMs: requestTimeoutMs,
      watchesMs: Math.min(watchDrainMs, requestTimeoutMs),
      requestsUnderWay: () => this.requests?.underWay ?? 0,
      noteCut: this.cuts.note,
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.tls.stopped();
  }

  private get fastify(): FastifyInstance {
    return this.host.httpAdapter.getInstance<FastifyInstance>();
  }

  private get server(): Http2SecureServer {
    return this.fastify.server as unknown as Http2SecureServer;
  }
}
