import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyRequest, InjectOptions } from 'fastify';
import { buildAdmission } from '../admission/build-admission.js';
import { metaKinds } from '../apis/meta/v1/meta-kinds.js';
import { AppModule } from '../app.module.js';
import { RuntimeConfig } from '../config/runtime-config.js';
import { versionInfo } from '../endpoints/discovery/version-info.js';
import { routingOptions } from '../endpoints/listener.js';
import { registerRequestHooks } from '../endpoints/request-info/request-info.hook.js';
import { EndpointServices } from '../endpoints/services.js';
import { StatusFilter } from '../endpoints/status.filter.js';
import type { AuthorizationDecision, RuleList } from '../machinery/authorizer.js';
import { systemClock } from '../machinery/clock.js';
import type { RequestContext } from '../machinery/request-context.js';
import type { Security, TokenReviewResult } from '../machinery/security.js';
import { vendorNames } from '../machinery/vendor.js';
import { Logger } from '../observability/logger.js';
import { Metrics } from '../observability/metrics.js';
import type { GroupContext } from '../registry/group-context.js';
import type { NamespaceIndex } from '../registry/namespace-index.js';
import { StorageReader } from '../registry/object-reader.js';
import { ResourceRegistry } from '../registry/resource-registry.js';
import type { Storage } from '../storage/storage.interface.js';
import type { LaneAnswer, LaneRequest, LaneSettings, LaneTarget } from './lane-messages.js';

/** The process gives a request up before this. */
const requestTimeoutMs = 600_000;
/** Set on every request here, whatever its client sent under the name. */
const idHeader = 'x-plinth-lane';

type Call = (target: LaneTarget, method: string, args: readonly unknown[]) => Promise<unknown>;

/** Answers requests without listening. */
export interface LaneServer {
  answer(request: LaneRequest): Promise<LaneAnswer>;
}

/** Binds a request to the user that the process found out, which also has decided that it may be made. */
class ForwardedGuard implements CanActivate {
  private readonly requests = new Map<string, LaneRequest>();
  private lastId = 0;

  enter(request: LaneRequest): string {
    const id = String(++this.lastId);
    this.requests.set(id, request);
    return id;
  }

  leave(id: string): void {
    this.requests.delete(id);
  }

  canActivate(host: ExecutionContext): boolean {
    const http = host.switchToHttp();
    const { headers, plinthContext } = http.getRequest<FastifyRequest & { plinthContext: RequestContext }>();
    const request = this.requests.get(String(headers[idHeader]));
    if (request === undefined) return false;
    plinthContext.user = request.user;
    plinthContext.impersonator = request.impersonator;
    return true;
  }
}

/** The program as it answers requests, with storage and decisions about access left to another thread. */
export async function buildLaneServer(settings: LaneSettings, storage: Storage, call: Call): Promise<LaneServer> {
  const { cluster, logging } = settings;
  const logger = new Logger(logging.logLevel, logging.logFormat);
  const names = vendorNames(cluster.vendor, cluster.compat);
  const metrics = new Metrics();
  const registry = new ResourceRegistry(RuntimeConfig.of(cluster.runtimeConfig).isServed);
  const security = remoteSecurity(settings, call);
  const context: GroupContext = {
    registry,
    storage,
    clock: systemClock,
    names,
    security,
    serviceClusterIpRange: cluster.serviceClusterIpRange,
    serviceNodePortRange: cluster.serviceNodePortRange,
  };
  const options = {
    maxBodyBytes: settings.maxBodyBytes,
    minRequestTimeoutSeconds: 0,
    maxConnectionBytesPerSecond: 0,
    listPageSize: settings.listPageSize,
    shutdown: new AbortController().signal,
    continueKey: settings.continueKey,
  };
  const services = new EndpointServices(registry, storage, systemClock, names, metrics, options, metaKinds);
  const namespaces: Pick<NamespaceIndex, 'state'> = {
    state: (namespace) =>
      call('namespaces', 'state', [namespace]) as Promise<Awaited<ReturnType<NamespaceIndex['state']>>>,
  };
  const { authorizer } = security;
  const admission = buildAdmission(settings.admission, {
    names,
    authorizer,
    namespaces,
    objects: new StorageReader(storage, registry),
  });
  const filter = new StatusFilter(logger, services);
  const guard = new ForwardedGuard();
  const adapter = new FastifyAdapter(routingOptions(settings.maxBodyBytes, filter) as never);
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.of({
      services,
      groupContext: context,
      issuerDocuments: () => undefined,
      guards: [guard],
      admission,
      healthChecks: [],
      version: versionInfo(),
      filter,
      logger,
    }),
    adapter,
    { bodyParser: false, logger: false, abortOnError: false },
  );
  const fastify = adapter.getInstance() as unknown as FastifyInstance;
  // As in the process: handlers read the bodies.
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('*', (_request: unknown, _payload: unknown, done: (error: null) => void) => done(null));
  const hooks = { requestTimeoutMs, goawayChance: 0 };
  registerRequestHooks(fastify, hooks, metrics, filter, { isDraining: false });
  await app.init();
  await fastify.ready();
  return { answer: (request) => answer(fastify, guard, request) };
}

async function answer(fastify: FastifyInstance, guard: ForwardedGuard, request: LaneRequest): Promise<LaneAnswer> {
  const id = guard.enter(request);
  try {
    const { method, url, headers, body } = request;
    const options: InjectOptions = {
      method: method as NonNullable<InjectOptions['method']>,
      url,
      headers: { ...headers, [idHeader]: id },
      ...(body.length === 0 ? {} : { payload: Buffer.from(body.buffer, body.byteOffset, body.byteLength) }),
    };
    const { statusCode, headers: answered, rawPayload } = await fastify.inject(options);
    return {
      status: statusCode,
      headers: Object.fromEntries(
        Object.entries(answered).map(([name, value]) => [name, Array.isArray(value) ? value : String(value)]),
      ),
      body: new Uint8Array(rawPayload),
    };
  } finally {
    guard.leave(id);
  }
}

function remoteSecurity({ issuer }: LaneSettings, call: Call): Security {
  return {
    authorizer: {
      authorize: (attributes) => call('authorizer', 'authorize', [attributes]) as Promise<AuthorizationDecision>,
    },
    rules: { rulesFor: (user, namespace) => call('rules', 'rulesFor', [user, namespace]) as Promise<RuleList> },
    tokens: {
      review: (token, audiences) => call('tokens', 'review', [token, audiences]) as Promise<TokenReviewResult>,
    },
    issuer:
      issuer === undefined
        ? undefined
        : {
            ...issuer,
            issue: (request) =>
              call('issuer', 'issue', [request]) as Promise<{ readonly token: string; readonly expiresAt: Date }>,
          },
  };
}
