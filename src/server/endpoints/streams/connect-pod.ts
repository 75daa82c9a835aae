import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import {
  badRequestError,
  StatusError,
  serviceUnavailableError,
  timeoutError,
} from '../../../base/machinery/status-error.js';
import type { ExchangeAnswer } from '../../../base/outgoing/exchange.js';
import type { Target } from '../../../base/outgoing/https-connections.js';
import { hostAndPort, type NodeAgentCall } from '../../../base/outgoing/node-agent-client.js';
import { NodeAgentFault } from '../../../base/outgoing/node-agent-fault.js';
import { parseText } from '../../../objects/registry/store/object-codec.js';
import type { ConnectionTarget } from '../../../objects/registry/subresource-definition.js';
import { containerOf, nodeOf } from '../node-agents/find-container.js';
import type { ReadPod } from '../node-agents/read-objects.js';
import { openTunnel } from '../remote/tunnel.js';
import type { ResourceRequest } from '../resource-request.js';
import { isWebSocket, offeredProtocols, type Upgrade, wantsWebSocket } from '../web-sockets.js';
import { refusedStream } from './agent-answer.js';
import type { AgentStream } from './agent-stream.js';
import { agentQuery, type StreamOptions } from './connect-options.js';
import { execOverWebSocket, translatedProtocol } from './exec-over-web-socket.js';
import { forwardOverWebSocket, tunnelProtocol } from './forward-over-web-socket.js';
import { watchOver } from './stream-end.js';

/** A kind of connection to a pod. */
export type PodTarget = Exclude<ConnectionTarget, 'proxy'>;

/** Time limit for an agent's response head. Agents query the container runtime first. */
const headLimitMs = 30_000;

/**
 * Opens a stream to the agent of a pod's node. Data of SPDY clients and of the older WebSocket protocols is forwarded
 * unchanged; the newer WebSocket protocols are translated, as agents support only SPDY.
 */
export async function connectPod(
  request: ResourceRequest,
  target: PodTarget,
  options: StreamOptions,
  upgrade: Upgrade | undefined,
): Promise<void> {
  const { services, context, resource, reply, http, namespace, name } = request;
  const agents = services.nodeAgents;
  if (agents === undefined) throw serviceUnavailableError('this process does not reach nodes');
  const pod = parseText(resource, (await request.store.get(namespace, name)).json) as unknown as ReadPod;
  const container = target === 'portForward' ? [] : [containerOf(pod, options.container ?? '')];
  const { nodeName } = pod.spec;
  if (!nodeName) throw badRequestError(`pod ${name} does not have a host assigned`);
  const agent = agents.addressOf(await nodeOf(services, nodeName));
  if (upgrade === undefined) throw badRequestError('Upgrade request required');
  const protocols = isWebSocket(upgrade.request) && wantsWebSocket(reply.raw) ? offeredProtocols(upgrade) : [];
  const query = agentQuery(options).toString();
  const path = `/${[target, namespace, name, ...container].map(encodeURIComponent).join('/')}${query === '' ? '' : `?${query}`}`;
  const end = watchOver(request, name, pod.metadata.uid ?? '', 'create');
  try {
    const stream: AgentStream = {
      ask: (method, headers) =>
        upgraded(request, agent, { method, path, headers, signal: end.signal, headLimitMs, mayUpgrade: true }),
      options,
      end,
    };
    const tunnelled =
      target === 'portForward' ? protocols.find((protocol) => tunnelProtocol(protocol) !== undefined) : undefined;
    if (target !== 'portForward' && protocols.includes(translatedProtocol)) {
      await execOverWebSocket(request, upgrade, stream);
    } else if (tunnelled !== undefined) {
      await forwardOverWebSocket(request, upgrade, tunnelled, stream);
    } else {
      const answer = await stream.ask(http.method, clientHeaders(upgrade.request, hostAndPort(agent), protocols));
      reply.hijack();
      context.isUpgraded = true;
      const response = reply.raw as unknown as ServerResponse;
      await openTunnel(response, answer, end.signal, services.throttle.writerOf(reply.raw));
    }
  } finally {
    end.stop();
  }
}

/** Requests a protocol switch from an agent; any other response becomes an error for the client. */
async function upgraded(
  { services, context }: ResourceRequest,
  agent: Target,
  call: NodeAgentCall,
): Promise<Extract<ExchangeAnswer, { kind: 'upgrade' }>> {
  const client = services.nodeAgents?.client;
  if (client === undefined) throw serviceUnavailableError('this process does not reach nodes');
  const headers = { ...call.headers, host: hostAndPort(agent) };
  const answer = await client.ask(agent, { ...call, headers }).catch((error: unknown) => {
    if (context.signal.aborted) throw timeoutError('the client has left');
    if (call.signal.aborted) throw serviceUnavailableError('the server is shutting down');
    if (!(error instanceof NodeAgentFault)) throw error;
    throw new StatusError('', `error dialing backend: ${error.message}`, { code: 500 });
  });
  if (answer.kind === 'response') throw await refusedStream(answer.response);
  return answer;
}

/** Header fields that agents need. No other field of the client is sent to an agent, since agents trust this server. */
const passedFields: ReadonlySet<string> = new Set([
  'user-agent',
  'x-stream-protocol-version',
  'sec-websocket-key',
  'sec-websocket-version',
]);

function clientHeaders(request: IncomingMessage, host: string, protocols: readonly string[]): OutgoingHttpHeaders {
  const headers: Record<string, string | string[]> = {
    host,
    connection: 'Upgrade',
    upgrade: request.headers.upgrade ?? '',
  };
  const { rawHeaders } = request;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase();
    if (!passedFields.has(name)) continue;
    // Older agents accept a list of versions only if each is in a header field of its own.
    headers[name] = [...[headers[name] ?? []].flat(), rawHeaders[i + 1] as string];
  }
  if (protocols.length > 0) headers['sec-websocket-protocol'] = protocols.join(', ');
  return headers;
}
