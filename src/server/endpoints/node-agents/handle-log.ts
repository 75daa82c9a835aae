import type { IncomingMessage } from 'node:http';
import { BytePieces } from '../../../base/machinery/byte-pieces.js';
import type { UserInfo } from '../../../base/machinery/request-context.js';
import {
  badRequestError,
  notFoundError,
  StatusError,
  serviceUnavailableError,
  timeoutError,
} from '../../../base/machinery/status-error.js';
import type { Target } from '../../../base/outgoing/https-connections.js';
import { hostAndPort } from '../../../base/outgoing/node-agent-client.js';
import { NodeAgentFault } from '../../../base/outgoing/node-agent-fault.js';
import { parseText } from '../../../objects/registry/store/object-codec.js';
import type { NodeAgents } from '../../node-agents/node-agents.js';
import { checkRepresentations } from '../negotiation/accept.js';
import { takeOver } from '../negotiation/respond.js';
import { type ResourceRequest, requestLabels } from '../resource-request.js';
import { ResponseWriter } from '../response-writer.js';
import { type StreamEnd, watchOver } from '../streams/stream-end.js';
import { cut } from '../unread-answers.js';
import { wantsWebSocket } from '../web-sockets.js';
import { containerOf, nodeOf } from './find-container.js';
import { type LogOptions, parseLogOptions } from './log-options.js';
import { passOverWebSocket } from './log-over-web-socket.js';
import type { ReadPod } from './read-objects.js';

const pods = { group: '', resource: 'pods' };
/** Longer error messages of node agents are cut. */
const maxMessageBytes = 2048;

/**
 * GET of the log of a pod: requests it from the agent of the pod's node and forwards the text until either side ends it
 * (specification 4.1). The log of a pod without a node is empty.
 */
export async function handleLog(request: ResourceRequest): Promise<void> {
  const { services, context, resource, reply, namespace, name } = request;
  const agents = services.nodeAgents;
  if (agents === undefined) throw serviceUnavailableError('this process does not reach nodes');
  checkRepresentations(request.accept, ['text/plain', ...services.accept.mediaTypes()]);
  // The log is always plain text, but a client that accepts no form of an object gets none.
  services.accept.negotiate(request.accept, true, { hasTables: false });
  const options = parseLogOptions(context.query, name, services.features.isOn('PodLogsQuerySplitStreams'));
  const pod = parseText(resource, (await request.store.get(namespace, name)).json) as unknown as ReadPod;
  const container = containerOf(pod, options.container);
  const { nodeName } = pod.spec;
  if (!nodeName) {
    reply.code(204).header('cache-control', 'no-cache, private').send();
    return;
  }
  const target = agents.addressOf(await nodeOf(services, nodeName));
  const leave = services.streamSeats.enter((context.user as UserInfo).name);
  const end = watchOver(request, name, pod.metadata.uid ?? '');
  try {
    await passLog(request, target, container, options, end);
  } finally {
    end.stop();
    leave();
  }
}

async function passLog(
  request: ResourceRequest,
  target: Target,
  container: string,
  options: LogOptions,
  { signal }: StreamEnd,
): Promise<void> {
  const { services, context, namespace, name } = request;
  const agents = services.nodeAgents as NodeAgents;
  const query = options.forAgent.toString();
  const names = ['containerLogs', namespace, name, container].map(encodeURIComponent).join('/');
  const path = `/${names}${query === '' ? '' : `?${query}`}`;
  const answer = await agents.client.get(target, path, options.skipVerify, signal).catch((error: unknown) => {
    if (context.signal.aborted) throw timeoutError('the client has left');
    if (signal.aborted) throw serviceUnavailableError('the request may not continue');
    if (!(error instanceof NodeAgentFault)) throw error;
    throw new StatusError('', `Get "https://${hostAndPort(target)}${path}": ${error.message}`);
  });
  if (answer.statusCode !== 200) throw await refusal(answer, name);
  await pass(request, answer);
}

/** The error for an agent's refusal, with the agent's message. */
async function refusal(answer: IncomingMessage, pod: string): Promise<StatusError> {
  const code = answer.statusCode ?? 0;
  const message = (await beginningOf(answer)).trim() || `the node agent answered ${code}`;
  if (code === 404) return notFoundError(pods, pod);
  if (code === 400) return badRequestError(message);
  if (code >= 300 && code < 400) {
    return new StatusError('', 'the node agent attempted to redirect this request, which is not permitted', {
      code: 502,
    });
  }
  // A refusal of this server's own credentials does not concern the client.
  return new StatusError('InternalError', `the node agent answered ${code}: ${message}`);
}

async function beginningOf(answer: IncomingMessage): Promise<string> {
  const pieces = new BytePieces();
  try {
    for await (const chunk of answer) {
      pieces.add(chunk as Buffer);
      if (pieces.length >= maxMessageBytes) break;
    }
  } catch {
    // Use the text received so far.
  }
  answer.destroy();
  return pieces.join().subarray(0, maxMessageBytes).toString('utf8');
}

/** Writes the text at the pace of the client. If the agent's stream breaks off, the client's stream is cut too. */
async function pass(request: ResourceRequest, answer: IncomingMessage): Promise<void> {
  const { context, reply, services } = request;
  const { raw } = reply;
  const isOverWebSocket = wantsWebSocket(raw);
  const ended = services.metrics.longRunningStarted(requestLabels(request));
  try {
    if (isOverWebSocket) {
      await passOverWebSocket(request, answer);
      return;
    }
    raw.writeHead(200, takeOver(context, reply, 'text/plain'));
    (raw as { flushHeaders?: () => void }).flushHeaders?.();
    const writer = new ResponseWriter(raw, context.unread);
    writer.onGone(() => answer.destroy());
    try {
      const throttle = services.throttle.writerOf(raw);
      for await (const chunk of answer) {
        if (throttle !== undefined) await throttle((chunk as Buffer).length);
        await writer.write(chunk as Buffer);
      }
    } catch {
      // When this server shuts down, the log ends normally for the client.
      if (!services.options.shutdown.aborted) {
        if (!writer.isGone) cut(raw);
        return;
      }
    }
    writer.end();
  } finally {
    answer.destroy();
    ended();
  }
}
