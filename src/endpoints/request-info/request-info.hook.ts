import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { headersTooLargeError, serviceUnavailableError, timeoutError } from '../../machinery/status-error.js';
import type { Metrics, RequestLabels } from '../../observability/metrics.js';
import type { ConnectionTracker } from '../connection-tracker.js';
import { maxHeaderBytes } from '../listener.js';
import type { StatusFilter } from '../status.filter.js';
import { InFlightLimiter, type InFlightLimits } from './in-flight.js';
import { HttpRequestContext } from './request-context.js';

export interface RequestHookOptions {
  readonly limits: InFlightLimits;
  /** Requests that are not long-running get a 504 after this time. */
  readonly requestTimeoutMs: number;
  /** Chance, 0 to 0.02, that a connection is asked to close after a request, so that clients spread again. */
  readonly goawayChance: number;
}

/** Stands in metrics for the code of an answer that nobody waited for. */
const clientLeft = 499;
const ignore = () => undefined;
const emptyLabels = { group: '', version: '', resource: '', subresource: '', scope: '' } as const;

/**
 * First in the way of a request: makes its context, counts it against the limits, and measures its answer. Gives what
 * counts the requests under way.
 */
export function registerRequestHooks(
  fastify: FastifyInstance,
  options: RequestHookOptions,
  metrics: Metrics,
  filter: StatusFilter,
  connections: Pick<ConnectionTracker, 'isDraining'>,
): InFlightLimiter {
  const limiter = new InFlightLimiter(options.limits, metrics);

  fastify.decorateRequest('plinthContext', undefined);
  fastify.addHook('onRequest', (request, reply, done) => {
    try {
      begin(request, reply);
      done();
    } catch (error) {
      filter.answer(error, request, reply);
    }
  });

  const begin = (request: FastifyRequest, reply: FastifyReply) => {
    const context = new HttpRequestContext(request);
    request.plinthContext = context;
    // Not onResponse: that leaves out clients that go away before their answer, and they would count for ever.
    reply.raw.once('close', () => {
      try {
        finish(context, request, reply);
      } catch (error) {
        filter.report(error, request);
      }
    });
    // What can't be written to a client that left is nobody's fault; unheard, it would end the process.
    reply.raw.on('error', ignore);
    if (connections.isDraining && request.raw.httpVersionMajor === 1) reply.raw.setHeader('connection', 'close');
    if (headerBytes(request) > maxHeaderBytes) throw headersTooLargeError();
    if (options.goawayChance > 0 && Math.random() < options.goawayChance) askToReconnect(request, reply);
    // Watches stay open for long: they count as watches, not as requests in flight.
    if (context.requestInfo.verb === 'watch') {
      if (connections.isDraining) throw serviceUnavailableError('the server is shutting down');
      return;
    }
    const kind = InFlightLimiter.kindOf(request.method);
    limiter.enter(kind);
    context.requestKind = kind;
    context.timer = setTimeout(
      () => {
        context.abort();
        filter.answer(timeoutError('request did not complete within the allotted timeout'), request, reply);
      },
      timeLimitMs(context, options.requestTimeoutMs),
    );
  };

  const finish = (context: HttpRequestContext, request: FastifyRequest, reply: FastifyReply) => {
    // Nobody waits for the rest of the work.
    if (!reply.raw.writableEnded) context.abort();
    if (context.timer !== undefined) clearTimeout(context.timer);
    if (context.requestKind !== undefined) {
      limiter.leave(context.requestKind);
      context.requestKind = undefined;
    }
    const isLong = context.requestInfo.verb === 'watch';
    const seconds = isLong ? undefined : (performance.now() - context.startedAt) / 1000;
    const code = reply.raw.headersSent ? reply.raw.statusCode : clientLeft;
    metrics.requestDone(labelsOf(context, request.method, code), code, Boolean(context.query.get('dryRun')), seconds);
  };
  return limiter;
}

/** Lists and deletes of collections can ask for less time with `timeoutSeconds`; what is no number is refused later. */
function timeLimitMs({ requestInfo: { verb }, query }: HttpRequestContext, limitMs: number): number {
  if (verb !== 'list' && verb !== 'deletecollection') return limitMs;
  const seconds = Number(query.get('timeoutSeconds') ?? 0);
  return seconds > 0 ? Math.min(seconds * 1000, limitMs) : limitMs;
}

/** Size of the head of a request, in characters: names, values, and what HTTP/2 counts per field. */
function headerBytes(request: FastifyRequest): number {
  const fields = request.raw.rawHeaders;
  // HTTP/2 has the path among the fields.
  let size = (request.raw.httpVersionMajor === 1 ? (request.raw.url?.length ?? 0) : 0) + fields.length * 16;
  for (const text of fields) size += text.length;
  return size;
}

/** Labels are bounded: names of unknown resources are never taken over. */
function labelsOf(context: HttpRequestContext, method: string, code: number): RequestLabels {
  const info = context.requestInfo;
  if (!info.isResourceRequest) return { verb: method, ...emptyLabels };
  if (code === 404 || code === 405 || code === 401 || code === 403) {
    return { verb: info.verb.toUpperCase(), ...emptyLabels };
  }
  const scope = info.name !== '' ? 'resource' : info.namespace !== '' ? 'namespace' : 'cluster';
  return {
    verb: info.verb.toUpperCase(),
    group: info.apiGroup,
    version: info.apiVersion,
    resource: info.resource,
    subresource: info.subresource,
    scope,
  };
}

/** HTTP/2 connections finish their streams and close (GOAWAY); HTTP/1.1 ones close after this answer. */
function askToReconnect(request: FastifyRequest, reply: FastifyReply): void {
  const session = (request.raw as { stream?: { session?: { close(): void } } }).stream?.session;
  if (session !== undefined) session.close();
  else reply.header('connection', 'close');
}
