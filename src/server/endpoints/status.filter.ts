import {
  type ArgumentsHost,
  Catch,
  type ExceptionFilter,
  HttpException,
  Inject,
  Injectable,
  Optional,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  badRequestError,
  internalError,
  methodNotAllowedError,
  pageNotFoundError,
  requestTooLargeError,
  StatusError,
  timeoutError,
  unsupportedMediaTypeError,
} from '../../base/machinery/status-error.js';
import { Logger } from '../../base/observability/logger.js';
import { AUDITOR, type Auditor } from '../audit/auditor.js';
import { ConnectionCuts } from './connection-cuts.js';
import { EndpointServices } from './endpoint-services.js';
import { type AcceptedType, plainJsonType, wantsPretty } from './negotiation/accept.js';
import { encodeValue, formatWarning } from './negotiation/respond.js';
import type { HttpRequestContext } from './request-info/http-request-context.js';
import { isTooLongToRead } from './request-info/unwanted-body.js';

const indentedJsonType: AcceptedType = { ...plainJsonType, pretty: true };

/** Converts any thrown value to the error to respond with. Internal errors become a 500 that reveals no internals. */
export function toAnswer(error: unknown): StatusError {
  if (error instanceof StatusError) return error;
  const code =
    error instanceof HttpException ? error.getStatus() : (error as { statusCode?: unknown } | null)?.statusCode;
  switch (code) {
    case 400:
      return badRequestError('the request could not be understood', error);
    case 404:
      return pageNotFoundError();
    case 405:
      return methodNotAllowedError();
    case 413:
      return requestTooLargeError(0);
    case 415:
      return unsupportedMediaTypeError();
  }
  if (error instanceof Error && error.name === 'AbortError')
    return timeoutError('the request did not complete in time');
  return internalError(new Error('the server has an unexpected fault, see its log'));
}

/** Whether the response contains all details of the error, so that it need not be logged. */
function isExplained(error: unknown): boolean {
  return error instanceof StatusError && error.cause === undefined;
}

/**
 * Whether the error only means that the request was abandoned because its client left or its time limit was exceeded.
 */
function isOfAbandoned(error: unknown, context: HttpRequestContext | undefined): boolean {
  if (context?.isOver !== true || !(error instanceof Error)) return false;
  return isAbort(error) || (error instanceof StatusError && isAbort(error.cause));
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

/** The one place where errors become responses: every failure becomes a `Status`, except on pages outside the API. */
@Injectable()
@Catch()
export class StatusFilter implements ExceptionFilter {
  constructor(
    @Inject(Logger) private readonly logger: Logger,
    @Inject(EndpointServices) private readonly services: Pick<EndpointServices, 'accept' | 'kinds'>,
    /** Undefined in the thread for large requests, and when nothing is audited. */
    @Optional() @Inject(AUDITOR) private readonly auditor?: Pick<Auditor, 'unread'>,
    /** Undefined in the thread for large requests, which has no connections. */
    @Optional() @Inject(ConnectionCuts) private readonly cuts?: Pick<ConnectionCuts, 'note'>,
  ) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.answer(error, http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>());
  }

  /**
   * Also handles failures outside of Nest's routes (bad URLs, unknown methods) and in timers. Never throws: if even the
   * error can't be sent, the request is cut.
   */
  answer(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    try {
      this.send(error, request, reply);
    } catch (fault) {
      this.logger.error('could not answer with an error', {
        method: request.method,
        path: pathOf(request),
        error: fault,
      });
      reply.raw.destroy();
    }
  }

  /** Logs an error that happened after the response of a request. */
  report(error: unknown, request: FastifyRequest): void {
    this.logger.error('could not finish a request', { method: request.method, path: pathOf(request), error });
  }

  private send(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const answer = toAnswer(error);
    const context = request.plinthContext;
    if (answer.code === 500 && !(error instanceof StatusError)) context?.audit?.failed();
    if (answer.code >= 500 && !isExplained(error) && !isOfAbandoned(error, context)) {
      // Internal errors have to be investigated; a webhook's fault concerns the administrator of the webhook.
      const level = error instanceof StatusError && error.isExpected ? 'warn' : 'error';
      this.logger[level]('request failed', { method: request.method, path: pathOf(request), error });
    }
    // The request has timed out and got its response: later failures caused by the abort must not cut it while it is
    // being sent.
    if (reply.raw.writableEnded || context?.isEnding === true) return;
    if (reply.sent || reply.raw.headersSent) {
      if (context !== undefined) context.isAborted = true;
      if (!reply.raw.destroyed) this.noteBroken(request, answer);
      // A response that has begun can't become an error; cutting it shows the client that it is incomplete.
      reply.raw.destroy();
      return;
    }
    if (answer.isSelfDefence && context !== undefined) context.isTerminated = true;
    const retryAfter = answer.details?.retryAfterSeconds;
    if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter));
    if (isTooLongToRead(request.raw)) reply.header('connection', 'close');
    if (answer.code === 401) reply.header('www-authenticate', 'Bearer realm="plinth"');
    // The message repeats what the client sent: a browser must not take it for a page.
    if (answer.isDenial) reply.header('x-content-type-options', 'nosniff');
    const warnings = context?.warnings ?? [];
    if (warnings.length > 0) reply.header('warning', warnings.map(formatWarning));
    const accepted = this.acceptedType(request.headers.accept);
    const status = answer.toStatus();
    if (context === undefined) this.noteUnread(request, answer);
    else context.audit?.answered(answer.code, status);
    if (answer.page !== undefined) {
      sendPage(reply, answer.code, answer.page);
      return;
    }
    const pretty = accepted.pretty || (context !== undefined && wantsPretty(context.query, context.userAgent));
    reply
      .code(answer.code)
      .header('cache-control', 'no-cache, private')
      .header('content-type', accepted.contentType)
      .send(encodeValue(status, accepted, this.services.kinds.status, pretty));
  }

  private noteBroken(request: FastifyRequest, { code, message }: StatusError): void {
    const { method, raw } = request;
    const fields = { client: raw.socket?.remoteAddress, method, path: pathOf(request), code, error: message };
    this.cuts?.note('broken-answer', fields);
  }

  /** A request with an invalid path has no context, but is audited too. */
  private noteUnread({ raw, method }: FastifyRequest, { code, reason }: StatusError): void {
    this.auditor?.unread({ raw, verb: method.toLowerCase(), code, reason });
  }

  /** The format that the client accepts; indented JSON if it accepts none that errors have. */
  private acceptedType(header: string | undefined): AcceptedType {
    try {
      return this.services.accept.negotiate(header, false);
    } catch {
      return indentedJsonType;
    }
  }
}

function pathOf(request: FastifyRequest): string {
  const query = request.url.indexOf('?');
  return query < 0 ? request.url : request.url.slice(0, query);
}

function sendPage(reply: FastifyReply, code: number, page: string): void {
  reply
    .code(code)
    .header('cache-control', 'no-cache, private')
    .header('content-type', 'text/plain; charset=utf-8')
    .header('x-content-type-options', 'nosniff')
    .send(Buffer.from(page));
}
