import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { serviceUnavailableError, timeoutError } from '../../../base/machinery/status-error.js';
import type { ExchangeAnswer } from '../../../base/outgoing/exchange.js';
import { hostAndPort } from '../../../base/outgoing/node-agent-client.js';
import { NodeAgentFault } from '../../../base/outgoing/node-agent-fault.js';
import { ProxyFault } from '../../../base/outgoing/proxy-fault.js';
import { passedHeaders } from '../../aggregation/forwarded-headers.js';
import { identityFields, noNames } from '../../aggregation/identity-fields.js';
import { mayHaveBody, passAnswer, remoteUnavailableError } from '../remote/handle-remote.js';
import { openTunnel } from '../remote/tunnel.js';
import type { ResourceRequest } from '../resource-request.js';
import { redirectError } from '../streams/agent-answer.js';
import { watchOver } from '../streams/stream-end.js';
import type { Upgrade } from '../web-sockets.js';
import { decodedPath, encodedPath, type ProxiedPath, rewriteCookie, rewriteLocation } from './proxied-path.js';
import { findProxyTarget, type ProxyTarget } from './proxy-target.js';
import { isRewritablePage, rewritePage } from './rewrite-page.js';

/**
 * Header fields with which the other server could control browsers for this server too, since its responses come from
 * this server's host: who may read responses, how to connect from now on, and which data to delete.
 */
const foreignFields = [
  'access-control-allow-credentials',
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-allow-origin',
  'access-control-expose-headers',
  'alt-svc',
  'clear-site-data',
  'public-key-pins',
  'strict-transport-security',
] as const;

/**
 * Forwards a request to a server in a pod, behind a service or on a node, and the response back (specification 4.1).
 * Both bodies are streamed. The other server gets no credentials of the client, and redirects are left to the client.
 *
 * @param admitted the path after admission, decoded
 */
export async function handleProxy(
  request: ResourceRequest,
  path: ProxiedPath,
  admitted: string,
  upgrade: Upgrade | undefined,
): Promise<void> {
  const { services, context, http, reply } = request;
  const { proxies } = services;
  if (proxies === undefined) throw serviceUnavailableError('this process does not reach pods');
  const found = await findProxyTarget(request, proxies.denied);
  const rest = admitted === decodedPath(path) ? path.rest : encodedPath(admitted);
  if (rest === '' && upgrade === undefined && (http.method === 'GET' || http.method === 'HEAD')) {
    // Without the trailing slash, relative links of the other server would lead to this server.
    reply.code(301).header('location', `${path.prefix}/${path.query}`).send();
    return;
  }
  const end = watchOver(request, found.name, found.uid);
  try {
    const answer = await ask(
      request,
      found,
      `${rest === '' ? '/' : rest}${path.query}`,
      path.prefix,
      upgrade,
      end.signal,
    );
    if (answer.kind === 'upgrade') {
      reply.hijack();
      context.isUpgraded = true;
      const response = reply.raw as unknown as ServerResponse;
      await openTunnel(response, answer, end.signal, services.throttle.writerOf(reply.raw));
      return;
    }
    const { response } = answer;
    const { statusCode = 0 } = response;
    if (upgrade !== undefined && statusCode >= 300 && statusCode < 400) {
      response.destroy();
      throw redirectError();
    }
    const own = [hostAndPort(found.target), http.headers.host ?? ''];
    await passAnswer(context, reply, response, undefined, (headers) => {
      for (const name of foreignFields) delete headers[name];
      const { location, 'set-cookie': cookies } = headers;
      if (cookies !== undefined) headers['set-cookie'] = [cookies].flat().map((one) => rewriteCookie(one, path.prefix));
      if (typeof location === 'string') headers.location = rewriteLocation(location, path.prefix, own);
      if (http.method === 'HEAD' || !isRewritablePage(response, headers)) return undefined;
      delete headers['content-length'];
      return rewritePage(response, path.prefix, own);
    });
  } finally {
    end.stop();
  }
}

async function ask(
  { services, context, http }: ResourceRequest,
  { target, isEncrypted, isAgent }: ProxyTarget,
  path: string,
  prefix: string,
  upgrade: Upgrade | undefined,
  signal: AbortSignal,
): Promise<ExchangeAnswer> {
  const body = upgrade === undefined && mayHaveBody(http) ? (http.raw as Readable) : undefined;
  const headers = passedHeaders({
    rawHeaders: http.raw.rawHeaders,
    clientAddress: http.ip,
    host: hostAndPort(target),
    upgrade: upgrade?.request.headers.upgrade,
    hasBody: body !== undefined,
    identities: (await services.aggregation?.identity()) ?? identityFields(noNames),
  });
  headers['x-forwarded-uri'] = `${prefix}${path.split('?', 1)[0]}`;
  const call = { method: http.method, path, headers, body, signal, mayUpgrade: upgrade !== undefined };
  const sent =
    isAgent && services.nodeAgents !== undefined
      ? services.nodeAgents.client.ask(target, call)
      : services.proxies?.ask(target, isEncrypted, call);
  if (sent === undefined) throw serviceUnavailableError('this process does not reach pods');
  return sent.catch((error: unknown) => {
    if (context.signal.aborted) throw timeoutError('the client has left');
    if (signal.aborted) throw serviceUnavailableError('the request may not continue');
    if (!(error instanceof ProxyFault) && !(error instanceof NodeAgentFault)) throw error;
    throw remoteUnavailableError(`error trying to reach service: ${error.message}`);
  });
}
