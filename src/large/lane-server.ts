import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { quietly } from '../application-context.js';
import { leaveBodies, routingOptions } from '../endpoints/listener.js';
import { registerRequestHooks } from '../endpoints/request-info/request-info.hook.js';
import { StatusFilter } from '../endpoints/status.filter.js';
import { Logger } from '../observability/logger.js';
import { Metrics } from '../observability/metrics.js';
import type { Storage } from '../storage/storage.interface.js';
import { ForwardedGuard, idHeader } from './forwarded.guard.js';
import { LaneAppModule, type LaneCall } from './lane-app.module.js';
import type { LaneAnswer, LaneRequest, LaneSettings } from './lane-messages.js';

/** The process gives a request up before this. */
const requestTimeoutMs = 600_000;

/** Answers requests without listening. */
export interface LaneServer {
  answer(request: LaneRequest): Promise<LaneAnswer>;
}

/** The program as it answers requests, with storage and decisions about access left to another thread. */
export async function buildLaneServer(settings: LaneSettings, storage: Storage, call: LaneCall): Promise<LaneServer> {
  const logger = new Logger(settings.logging.logLevel, settings.logging.logFormat);
  const answerFailed: StatusFilter['answer'] = (...failed) => app.get(StatusFilter).answer(...failed);
  const adapter = new FastifyAdapter(routingOptions(settings.maxBodyBytes, { answer: answerFailed }) as never);
  const module = LaneAppModule.of(settings, storage, call, logger);
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, { ...quietly, bodyParser: false });
  const fastify = adapter.getInstance() as unknown as FastifyInstance;
  leaveBodies(fastify);
  const hooks = { requestTimeoutMs, goawayChance: 0 };
  registerRequestHooks(fastify, hooks, app.get(Metrics), app.get(StatusFilter), { isDraining: false });
  await app.init();
  await fastify.ready();
  const guard = app.get(ForwardedGuard);
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
