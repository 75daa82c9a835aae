import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { Logger } from '../../base/observability/logger.js';
import { type MetricFamilies, Metrics } from '../../base/observability/metrics.js';
import type { OtlpSettings } from '../../base/observability/otlp-tracer.js';
import type { RequestTracer } from '../../base/observability/trace-scope.js';
import { quietly } from '../../base/process/application-context.js';
import { DefinitionInformer } from '../../objects/custom-resources/serving/definition-informer.js';
import type { Storage } from '../../storage/storage.interface.js';
import { EndpointServices } from '../endpoints/endpoint-services.js';
import type { LargeEvent } from '../endpoints/handlers/watch-event.js';
import { encodeWatched } from '../endpoints/handlers/watch-form.js';
import { leaveBodies, routingOptions } from '../endpoints/listener.js';
import { registerRequestHooks } from '../endpoints/request-info/request-info.hook.js';
import { StatusFilter } from '../endpoints/status.filter.js';
import { ForwardedGuard, idHeader } from './forwarded.guard.js';
import { LargeRequestAppModule, type LargeRequestCall } from './large-request-app.module.js';
import type { LargeRequestAnswer, LargeRequestMessage, LargeRequestThreadSettings } from './large-request-messages.js';
import { threadCountsOf } from './large-request-thread-counts.js';

/** Never reached, since the process terminates the request earlier. */
const requestTimeoutMs = 600_000;

/** Processes requests without listening. */
export interface LargeRequestServer {
  /**
   * Processes a request.
   *
   * @param left is aborted when no client is waiting for the response any longer
   * @param onRemote is called when the request begins to wait for a server outside, and when it no longer does
   */
  answer(
    request: LargeRequestMessage,
    left: AbortSignal,
    onRemote: (isRemote: boolean) => void,
  ): Promise<LargeRequestAnswer>;
  /** The metrics of the thread's requests that only the thread can count. */
  counts(): Promise<MetricFamilies>;
  /** Encodes a watch event. */
  encode(event: LargeEvent): Promise<Uint8Array<ArrayBuffer>>;
}

/** Builds the part of the server that handles requests, with storage and authorization in another thread. */
export async function buildLargeRequestServer(
  settings: LargeRequestThreadSettings,
  storage: Storage,
  call: LargeRequestCall,
): Promise<LargeRequestServer> {
  const logger = new Logger(settings.logging.logLevel, settings.logging.logFormat);
  const answerFailed: StatusFilter['answer'] = (...failed) => app.get(StatusFilter).answer(...failed);
  const adapter = new FastifyAdapter(routingOptions(settings.maxBodyBytes, { answer: answerFailed }) as never);
  const module = LargeRequestAppModule.of(settings, storage, call, logger);
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, { ...quietly, bodyParser: false });
  const fastify = adapter.getInstance() as unknown as FastifyInstance;
  leaveBodies(fastify);
  const hooks = {
    requestTimeoutMs,
    goawayChance: 0,
    tracer: settings.tracing && (await innerTracer(settings.tracing)),
  };
  const connections = { isDraining: false, endsWithAnswer: () => false };
  registerRequestHooks(fastify, hooks, app.get(Metrics), app.get(StatusFilter), connections);
  await app.init();
  await fastify.ready();
  const guard = app.get(ForwardedGuard);
  const services = app.get(EndpointServices);
  const follower = app.get(DefinitionInformer);
  return {
    answer: async (request, left, onRemote) => {
      await follower.reached(request.definitionsAt);
      return answer(fastify, guard, request, guard.enter(request, left, onRemote));
    },
    counts: () => threadCountsOf(app.get(Metrics).registry),
    encode: async ({ type, group, version, resource, form, text, definitionsAt }) => {
      await follower.reached(definitionsAt);
      const served = services.registry.find(group, version, resource);
      if (served === undefined) throw new Error(`no resource ${resource} in ${group}/${version}`);
      return new Uint8Array(encodeWatched(services, served, form, type, text));
    },
  };
}

/** The tracer of the thread, which continues the traces of the process and begins none. */
async function innerTracer(settings: OtlpSettings): Promise<RequestTracer> {
  const { OtlpTracer } = await import('../../base/observability/otlp-tracer.js');
  const tracer = new OtlpTracer(settings);
  return {
    begin: (_name, beginning) =>
      beginning?.remote && tracer.begin('thread for large requests', { ...beginning, isTrusted: true, isInner: true }),
  };
}

async function answer(
  fastify: FastifyInstance,
  guard: ForwardedGuard,
  request: LargeRequestMessage,
  id: string,
): Promise<LargeRequestAnswer> {
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
      ...guard.leave(id),
    };
  } finally {
    guard.leave(id);
  }
}
