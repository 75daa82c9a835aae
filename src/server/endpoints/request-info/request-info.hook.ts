import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Deadlines } from '../../../base/machinery/deadlines.js';
import {
  badRequestError,
  headersTooLargeError,
  StatusError,
  serviceUnavailableError,
  timeoutError,
  tooManyRequestsError,
} from '../../../base/machinery/status-error.js';
import { durationMilliseconds, parseDuration } from '../../../base/machinery/values/duration.js';
import { ValueFormatError } from '../../../base/machinery/values/value-format-error.js';
import type { Logger } from '../../../base/observability/logger.js';
import type { Metrics } from '../../../base/observability/metrics.js';
import {
  notesRequests,
  type RequestTracer,
  remoteSpanOf,
  runInTrace,
} from '../../../base/observability/trace-scope.js';
import { isForNodeAgent } from '../../../base/outgoing/node-agent-client.js';
import type { Auditor } from '../../audit/auditor.js';
import type { RequestAudit } from '../../audit/request-audit.js';
import { requestIdOf } from '../../audit/request-id.js';
import type { ClientLimits } from '../client-limits.js';
import type { NoteCut } from '../connection-cuts.js';
import type { ConnectionTracker } from '../connection-tracker.js';
import { maxHeaderBytes } from '../listener.js';
import type { StatusFilter } from '../status.filter.js';
import type { UnreadAnswers } from '../unread-answers.js';
import { endTrace } from './end-trace.js';
import { HttpRequestContext } from './http-request-context.js';
import { labelsOf } from './request-labels.js';
import { logSlowRequest } from './slow-requests.js';
import { readNothing, readUnwanted } from './unwanted-body.js';

export interface RequestHookOptions {
  /** Unset in the thread for large requests, which has no clients of its own. */
  readonly unread?: UnreadAnswers;
  readonly clients?: ClientLimits;
  readonly noteCut?: NoteCut;
  /** Unset if no requests are traced. */
  readonly tracer?: RequestTracer | undefined;
  /** Requests that take longer than this are logged, in milliseconds; 0 for none. */
  readonly slowMs?: number;
  readonly logger?: Pick<Logger, 'warn'>;
  /** Unset if no requests are audited. */
  readonly auditor?: Auditor | undefined;
  /** Requests that are not long-running get a 504 after this time. */
  readonly requestTimeoutMs: number;
  /**
   * Probability (0 to 0.02) that a connection is asked to close after a request, so that clients spread over the
   * servers again.
   */
  readonly goawayChance: number;
  /** Sets headers for browsers; returns true if it has responded to the request. */
  readonly browser?: ((request: FastifyRequest, reply: FastifyReply) => boolean) | undefined;
  /** Whether an extension server serves the request, which may then be long-running. Watches always may. */
  readonly isLongRunning?: (context: HttpRequestContext, response: object) => boolean;
}

/** The number of current requests. */
export interface RequestsUnderWay {
  /** The number of current requests without watches, including those whose responses are still being sent. */
  readonly underWay: number;
}

/** Code in metrics for requests whose client had left before the response. */
const clientLeft = 499;
const ignore = () => undefined;
/**
 * Registers the first hook of every request. It creates the request's context, counts it for its client address and
 * measures its response. Returns the counter of current requests.
 */
export function registerRequestHooks(
  fastify: FastifyInstance,
  options: RequestHookOptions,
  metrics: Metrics,
  filter: StatusFilter,
  connections: Pick<ConnectionTracker, 'isDraining' | 'endsWithAnswer'>,
): RequestsUnderWay {
  const hook = new RequestHook(options, metrics, filter, connections);
  fastify.decorateRequest('plinthContext', undefined);
  fastify.addHook('onRequest', (request, reply, done) => {
    if (options.browser?.(request, reply) === true) return;
    try {
      const context = new HttpRequestContext(request);
      request.plinthContext = context;
      hook.begin(context, request, reply);
      if (context.trace === undefined && context.traceAsked === undefined && !notesRequests()) done();
      else runInTrace(context, done);
    } catch (error) {
      filter.answer(error, request, reply);
    }
  });
  return hook;
}

class RequestHook implements RequestsUnderWay {
  private readonly limits = new Deadlines();
  private count = 0;

  constructor(
    private readonly options: RequestHookOptions,
    private readonly metrics: Metrics,
    private readonly filter: StatusFilter,
    private readonly connections: Pick<ConnectionTracker, 'isDraining' | 'endsWithAnswer'>,
  ) {}

  get underWay(): number {
    return this.count;
  }

  /** @throws StatusError for a request that is refused before anything else looks at it */
  begin(context: HttpRequestContext, request: FastifyRequest, reply: FastifyReply): void {
    const { unread, clients, auditor, tracer, requestTimeoutMs, goawayChance } = this.options;
    if (tracer !== undefined) beginTrace(tracer, context, request);
    context.unread = unread;
    const isLong = context.requestInfo.verb === 'watch' || this.options.isLongRunning?.(context, reply.raw) === true;
    context.isLongRunning = isLong;
    if (!isLong) this.count++;
    // The default until the query has been parsed.
    context.timeLimitMs = requestTimeoutMs;
    // Not set in the thread for large requests: the process that forwards the response has already set its id.
    if (unread !== undefined) {
      context.requestId = requestIdOf(request.raw.headers);
      // Not set on the response itself, which would then check each further header twice.
      reply.header('audit-id', context.requestId);
    }
    if (auditor !== undefined) {
      context.audit = auditor.begin({ context, raw: request.raw, response: reply.raw, id: context.requestId });
    }
    let leaveAddress: () => void = ignore;
    // The event `close` is used instead of onResponse, which is skipped when a client leaves before its response: the
    // request would count forever.
    reply.raw.once('close', () => {
      leaveAddress();
      this.closed(context, request, reply);
    });
    // A failed write to a client that left is not a fault; without a listener, the error would end the process.
    reply.raw.on('error', ignore);
    noticeEnd(context, unread, reply.raw, this.options.noteCut);
    if (isLong && context.audit !== undefined) noticeHead(context.audit, reply.raw);
    readNothing(request.raw);
    const { httpVersionMajor, socket } = request.raw;
    if (httpVersionMajor === 1 && (this.connections.endsWithAnswer(socket) || isIgnoredUpgrade(request.raw))) {
      reply.raw.setHeader('connection', 'close');
    }
    if (headerBytes(request) > maxHeaderBytes) throw headersTooLargeError();
    if (!isLong) context.timeLimitMs = timeLimitMs(context, requestTimeoutMs);
    if (isForNodeAgent(request.headers.via)) {
      throw new StatusError('Forbidden', 'the request was meant for a node agent, but reached this server');
    }
    leaveAddress = clients?.enter(request) ?? ignore;
    if (unread?.isFull(reply.raw) === true) throw tooManyRequestsError(1);
    if (goawayChance > 0 && Math.random() < goawayChance) askToReconnect(request, reply);
    // Watches last long: they count as watches, not as requests in flight.
    if (!isLong) this.limitTime(context, request, reply);
    else if (this.connections.isDraining) throw serviceUnavailableError('the server is shutting down');
  }

  private limitTime(context: HttpRequestContext, request: FastifyRequest, reply: FastifyReply): void {
    context.limit = this.limits.begin(context.timeLimitMs, () => {
      context.isTimedOut = true;
      context.isTerminated = true;
      context.abort();
      this.filter.answer(timeoutError('request did not complete within the allotted timeout'), request, reply);
    });
  }

  private closed(context: HttpRequestContext, request: FastifyRequest, reply: FastifyReply): void {
    if (!context.isLongRunning) this.count--;
    this.options.unread?.close(reply.raw);
    try {
      this.finish(context, request, reply);
    } catch (error) {
      this.filter.report(error, request);
    }
  }

  private finish(context: HttpRequestContext, request: FastifyRequest, reply: FastifyReply): void {
    const { logger, slowMs = 0 } = this.options;
    // No client is waiting for the remaining work.
    if (!reply.raw.writableEnded) context.abort();
    if (context.limit !== undefined) this.limits.end(context.limit);
    context.seat?.leave();
    context.inHand?.leave();
    context.memoryShare?.leave();
    context.audit?.closed();
    const endedAt = context.answeredAt ?? performance.now();
    const seconds = context.isLongRunning ? undefined : (endedAt - context.startedAt) / 1000;
    const code = context.isUpgraded ? 101 : reply.raw.headersSent ? reply.raw.statusCode : clientLeft;
    const labels = labelsOf(context, request.method);
    this.metrics.filters.passed(context.startedAt, context.phaseEnds);
    if (seconds !== undefined && validatedVerbs.has(labels.verb) && labels.resource !== '') {
      this.metrics.fieldValidation.written(context.query.get('fieldValidation'), seconds);
    }
    this.metrics.requestDone(labels, {
      code,
      dryRun: Boolean(context.query.get('dryRun')),
      seconds,
      waitedSeconds: context.waitedMs / 1000,
      answerBytes: context.answerBytes,
      bodyBytes: context.bodyBytes,
      isTerminated: context.isTerminated,
      isAborted: context.isAborted,
    });
    const ended = { context, request, code };
    // If the request ended before its user was known, the decision about the trace is still pending.
    context.decideTrace();
    if (context.trace !== undefined) endTrace(context.trace, ended);
    if (slowMs > 0 && logger !== undefined && seconds !== undefined && seconds * 1000 > slowMs) {
      context.mark('sending');
      logSlowRequest(logger, ended, seconds);
    }
  }
}

/** Reports the beginning of a long-running response to the audit trail. */
function noticeHead(audit: RequestAudit, raw: FastifyReply['raw']): void {
  const writeHead = raw.writeHead as (...args: unknown[]) => typeof raw;
  raw.writeHead = ((...args: unknown[]) => {
    audit.started(Number(args[0]));
    return writeHead.apply(raw, args);
  }) as typeof raw.writeHead;
}

/**
 * Begins the trace of a request. If the client claims that the request belongs to a trace, the decision waits until the
 * user is known, since only some users may decide what is traced.
 */
function beginTrace(tracer: RequestTracer, context: HttpRequestContext, { method, raw }: FastifyRequest): void {
  const remote = remoteSpanOf(raw.headers);
  if (remote === undefined) context.trace = tracer.begin(method);
  else context.traceAsked = (isTrusted) => tracer.begin(method, { remote, isTrusted, begunAt: context.startedAt });
}

/** Verbs of metrics whose bodies are checked for unknown fields. */
const validatedVerbs: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'APPLY']);

type Raw = FastifyReply['raw'];

/** The methods of a response that signal its end, and the data that they need. */
interface EndNotice {
  readonly context: HttpRequestContext;
  readonly unread: UnreadAnswers | undefined;
  readonly noteCut: NoteCut | undefined;
  readonly end: (...args: unknown[]) => Raw;
  readonly write: (...args: unknown[]) => boolean;
  isEnding: boolean;
}

const endNotice = Symbol('end notice');
type NoticedResponse = Raw & { [endNotice]: EndNotice };

/**
 * Marks the request as done once its response is handed over: delivering it to the client is not this server's work.
 * All responses share the same functions: with separate closures, the engine would keep a response, and the whole
 * request, until a full garbage collection (`test/e2e/short-lives.spec.ts`).
 */
function noticeEnd(
  context: HttpRequestContext,
  unread: UnreadAnswers | undefined,
  raw: Raw,
  noteCut: NoteCut | undefined,
): void {
  const { end, write } = raw as unknown as Pick<EndNotice, 'end' | 'write'>;
  (raw as NoticedResponse)[endNotice] = { context, unread, noteCut, end, write, isEnding: false };
  raw.end = noticedEnd as Raw['end'];
  raw.write = noticedWrite as Raw['write'];
}

function noticedEnd(this: NoticedResponse, ...args: unknown[]): Raw {
  const notice = this[endNotice];
  const { context, unread, noteCut, end } = notice;
  context.seat?.leave();
  context.inHand?.leave();
  const bytes = bytesOf(args[0]);
  context.answerBytes += bytes;
  unread?.add(this, bytes);
  notice.isEnding = true;
  readUnwanted(this, context, undefined, noteCut);
  context.mark('work');
  const noted = context.audit?.ended();
  if (noted === undefined) return end.apply(this, args);
  // The response waits until its event is in the audit trail.
  context.isEnding = true;
  const send = () => void end.apply(this, args);
  noted.then(send, send);
  return this;
}

function noticedWrite(this: NoticedResponse, ...args: unknown[]): boolean {
  const { context, isEnding, write } = this[endNotice];
  // Node writes the last piece of an HTTP/2 response by calling this method in `end`.
  if (!isEnding) context.answerBytes += bytesOf(args[0]);
  return write.apply(this, args);
}

function bytesOf(chunk: unknown): number {
  if (typeof chunk === 'string') return Buffer.byteLength(chunk);
  return chunk instanceof Uint8Array ? chunk.length : 0;
}

/**
 * The time limit in milliseconds. Lists and deletes of collections can shorten it with `timeoutSeconds`; an invalid
 * number is refused later.
 */
function timeLimitMs({ requestInfo: { verb }, query }: HttpRequestContext, limitMs: number): number {
  const askedMs = timeoutMs(query.get('timeout'));
  const mostMs = askedMs > 0 ? Math.min(askedMs, limitMs) : limitMs;
  if (verb !== 'list' && verb !== 'deletecollection') return mostMs;
  const seconds = Number(query.get('timeoutSeconds') ?? 0);
  return seconds > 0 ? Math.min(seconds * 1000, mostMs) : mostMs;
}

/**
 * The time limit that the client sets with `timeout`; 0 for none. @throws a 400 for anything that is not a duration.
 */
function timeoutMs(text: string | null): number {
  if (text === null || text === '') return 0;
  try {
    return durationMilliseconds(parseDuration(text));
  } catch (error) {
    if (!(error instanceof ValueFormatError)) throw error;
    throw badRequestError(`invalid timeout specified in the request URL - ${error.message}`, error);
  }
}

/**
 * Whether a request asks for another protocol and gets an ordinary response. Node discards what its client has sent
 * after it: no later request on the connection would be answered.
 */
function isIgnoredUpgrade(request: FastifyRequest['raw']): boolean {
  return request.headers.upgrade !== undefined && (request as { upgrade?: boolean | null }).upgrade !== true;
}

/** Size of the request header in characters: names, values, and HTTP/2's overhead per field. */
function headerBytes(request: FastifyRequest): number {
  const fields = request.raw.rawHeaders;
  // In HTTP/2 the path is one of the fields.
  let size = (request.raw.httpVersionMajor === 1 ? (request.raw.url?.length ?? 0) : 0) + fields.length * 16;
  for (const text of fields) size += text.length;
  return size;
}

/**
 * Asks the client to reconnect. HTTP/2 connections finish their streams and close (GOAWAY); HTTP/1.1 connections close
 * after this response.
 */
function askToReconnect(request: FastifyRequest, reply: FastifyReply): void {
  const session = (request.raw as { stream?: { session?: { close(): void } } }).stream?.session;
  if (session !== undefined) session.close();
  else reply.header('connection', 'close');
}
