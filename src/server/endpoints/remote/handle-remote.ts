import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RequestContext, UserInfo } from '../../../base/machinery/request-context.js';
import {
  badRequestError,
  forbiddenError,
  StatusError,
  timeoutError,
  tooManyRequestsError,
} from '../../../base/machinery/status-error.js';
import type { BackendAnswer } from '../../aggregation/backend-call.js';
import { BackendFault } from '../../aggregation/backend-fault.js';
import type { ExtensionBackend } from '../../aggregation/extension-backend.js';
import { answerHeaders, type ForwardedRequest, forwardedHeaders } from '../../aggregation/forwarded-headers.js';
import type { RemoteApiService } from '../../aggregation/known-api-service.js';
import { UnspeakableUserError } from '../../aggregation/unspeakable-user-error.js';
import type { EndpointServices } from '../endpoint-services.js';
import { formatWarning } from '../negotiation/respond.js';
import type { HttpRequestContext } from '../request-info/http-request-context.js';
import { labelsOf } from '../request-info/request-labels.js';
import { ResponseWriter } from '../response-writer.js';
import { cut } from '../unread-answers.js';
import { checkOrigin, upgradeOf } from '../web-sockets.js';
import { openTunnel } from './tunnel.js';

const defaultHeadLimitMs = 60_000;

/**
 * The 503 for an unavailable extension server. It has no retry hint, since clients would then wait and retry, and no
 * cause, since this server itself works and has nothing to log.
 */
export function remoteUnavailableError(message: string): StatusError {
  return new StatusError('ServiceUnavailable', message);
}

/**
 * Forwards an authorized request to the extension server that serves its group version, and the response back. Both
 * bodies are streamed. The extension server learns the client's identity only from this server (specification 2.1).
 *
 * @param path path and query to send; default: those of the request
 * @param user the user sent to that server; default: the user of the request
 */
export async function handleRemote(
  services: EndpointServices,
  remote: RemoteApiService,
  http: FastifyRequest,
  reply: FastifyReply,
  { path, user }: { readonly path?: string; readonly user?: UserInfo } = {},
): Promise<void> {
  const context = http.plinthContext as HttpRequestContext;
  context.remote = remote;
  if (services.aggregation === undefined || !remote.isAvailable) throw remoteUnavailableError('service unavailable');
  const backend = services.aggregation.backendOf(remote);
  const leave = backend.enter(context.isLongRunning);
  if (leave === undefined) throw tooManyRequestsError(1);
  // From here on the request takes a seat of the backend instead: a slow backend must not hold the seats of other
  // requests.
  context.seat?.leave();
  const end = context.isLongRunning ? services.metrics.longRunningStarted(labelsOf(context, http.method)) : undefined;
  try {
    const sent = { path: path ?? pathOf(http), user: user ?? (context.user as UserInfo) };
    await exchange(services, backend, context, http, reply, sent);
  } catch (error) {
    // The request has timed out, and its client has got the response.
    if (!(context.signal.aborted && reply.sent)) throw error;
  } finally {
    leave();
    end?.();
  }
}

async function exchange(
  { options }: EndpointServices,
  backend: ExtensionBackend,
  context: HttpRequestContext,
  http: FastifyRequest,
  reply: FastifyReply,
  { path, user }: { readonly path: string; readonly user: UserInfo },
): Promise<void> {
  const upgrade = upgradeOf(reply.raw);
  if (upgrade !== undefined) checkOrigin(upgrade);
  const body = upgrade === undefined && mayHaveBody(http) ? (http.raw as Readable) : undefined;
  const signal = context.isLongRunning ? AbortSignal.any([context.signal, options.shutdown]) : context.signal;
  const headers = headersFor(http, {
    user,
    host: backend.host,
    upgrade: upgrade?.request.headers.upgrade,
    hasBody: body !== undefined,
    identities: await backend.identity(),
  });
  // With the same id, the audit trails of both servers can be joined.
  if (context.requestId !== undefined) headers['audit-id'] = context.requestId;
  const answer = await ask(backend, context, {
    method: http.method,
    path,
    headers,
    body,
    signal,
    // Other requests have a limit of their own, which may be as long: the answer would depend on which one ends first.
    headLimitMs: context.isLongRunning ? (options.remoteHeadLimitMs ?? defaultHeadLimitMs) : undefined,
    mayUpgrade: upgrade !== undefined,
  });
  if (answer.kind === 'upgrade') {
    reply.hijack();
    context.isUpgraded = true;
    await openTunnel(reply.raw as unknown as ServerResponse, answer, signal);
    return;
  }
  refuseRedirect(answer.response);
  await passAnswer(context, reply, answer.response, context.isLongRunning ? options.shutdown : undefined);
}

async function ask(
  backend: ExtensionBackend,
  context: RequestContext,
  call: Parameters<ExtensionBackend['call']>[0],
): Promise<BackendAnswer> {
  try {
    return await backend.call(call);
  } catch (error) {
    // The client has left, or the request has timed out.
    if (context.signal.aborted) throw timeoutError('request did not complete within the allotted timeout');
    if (call.signal.aborted) throw remoteUnavailableError('the server is shutting down');
    if (!(error instanceof BackendFault)) throw error;
    throw remoteUnavailableError(`error trying to reach service: ${error.message}`);
  }
}

/**
 * Writes the response at the pace of the client. If the response breaks off, the client's stream is cut too.
 *
 * @param shutdown once aborted, a broken-off response ends normally for its client, as watches require
 * @param adjust changes the head of the response, and may return a body to send in place of the one that arrives
 */
export async function passAnswer(
  context: HttpRequestContext,
  reply: FastifyReply,
  response: IncomingMessage,
  shutdown: AbortSignal | undefined,
  adjust: (headers: Record<string, string | string[]>) => Readable | undefined = () => undefined,
): Promise<void> {
  const { raw } = reply;
  const code = response.statusCode ?? 0;
  if (code < 200 || code > 599) {
    response.destroy();
    throw remoteUnavailableError(`error trying to reach service: the backend answered with the status ${code}`);
  }
  const headers = answerHeaders(response.rawHeaders);
  const body = adjust(headers) ?? response;
  // The audit id in the response must be this server's, not the other one's.
  delete headers['audit-id'];
  if (context.warnings.length > 0) {
    headers.warning = [...[headers.warning ?? []].flat(), ...context.warnings.map(formatWarning)];
  }
  try {
    reply.hijack();
    raw.writeHead(code, { ...reply.getHeaders(), ...headers } as Record<string, string>);
  } catch (error) {
    response.destroy();
    cut(raw);
    throw error;
  }
  (raw as { flushHeaders?: () => void }).flushHeaders?.();
  const writer = new ResponseWriter(raw, context.unread);
  writer.onGone(() => response.destroy());
  try {
    for await (const chunk of body) await writer.write(chunk as Buffer);
  } catch {
    if (shutdown?.aborted !== true) {
      if (!writer.isGone) cut(raw);
      return;
    }
  }
  writer.end();
}

/** Refuses redirects: with them the other server could choose where clients send their credentials. */
function refuseRedirect(response: IncomingMessage): void {
  const { statusCode = 0, headers } = response;
  if (statusCode < 300 || statusCode > 399 || headers.location === undefined) return;
  response.destroy();
  throw new StatusError('', 'the backend attempted to redirect this request, which is not permitted', { code: 502 });
}

function headersFor(
  http: FastifyRequest,
  rest: Omit<ForwardedRequest, 'rawHeaders' | 'clientAddress'>,
): ReturnType<typeof forwardedHeaders> {
  try {
    return forwardedHeaders({ ...rest, rawHeaders: http.raw.rawHeaders, clientAddress: http.ip });
  } catch (error) {
    if (!(error instanceof UnspeakableUserError)) throw error;
    throw forbiddenError({ group: '', resource: '' }, '', error.message);
  }
}

/** Whether a request has a body to forward. */
export function mayHaveBody({ method, raw }: FastifyRequest): boolean {
  if (method === 'GET' || method === 'HEAD') return false;
  const { headers } = raw;
  const length = headers['content-length'];
  if (length !== undefined) return Number(length) > 0;
  // An HTTP/2 stream needs no header field to have a body.
  return headers['transfer-encoding'] !== undefined || raw.httpVersionMajor > 1;
}

/**
 * The path as the client sent it. Refuses an encoded slash: this server would authorize a name that contains a slash,
 * while most servers see two segments.
 */
function pathOf({ raw }: FastifyRequest): string {
  const url = raw.url ?? '/';
  const query = url.indexOf('?');
  const path = query < 0 ? url : url.slice(0, query);
  if (/%2f|%5c|\\/i.test(path)) throw badRequestError('the path of the request has an encoded slash');
  if (!/^[\x21-\x7e]*$/.test(url)) throw badRequestError('the path of the request is not percent-encoded');
  return url;
}
