import type { IncomingMessage } from 'node:http';
import {
  badRequestError,
  notFoundError,
  StatusError,
  serviceUnavailableError,
  timeoutError,
} from '../../machinery/status-error.js';
import { NodeAgentFault } from '../../outgoing/node-agent-client.js';
import { isStoredResource } from '../../registry/resource-registry.js';
import { parseText } from '../../registry/store/object-codec.js';
import { formatWarning } from '../negotiation/respond.js';
import { type ResourceRequest, requestLabels } from '../resource-request.js';
import { ResponseWriter } from '../response-writer.js';
import { cut } from '../unread-answers.js';
import { type LogOptions, parseLogOptions } from './log-options.js';
import type { ReadNode, ReadPod } from './read-objects.js';

const pods = { group: '', resource: 'pods' };
/** Longer messages of agents are cut. */
const maxMessageBytes = 2048;

/**
 * GET of the log of a pod: asks the agent of its node and passes the text on for as long as both sides want
 * (specification 4.1). The log of a pod without a node is empty.
 */
export async function handleLog(request: ResourceRequest): Promise<void> {
  const { services, context, resource, reply, namespace, name } = request;
  const agents = services.nodeAgents;
  if (agents === undefined) throw serviceUnavailableError('this process does not reach nodes');
  const options = parseLogOptions(context.query, name);
  const pod = parseText(resource, (await request.store.get(namespace, name)).json) as unknown as ReadPod;
  const container = containerOf(pod, options);
  const { nodeName } = pod.spec;
  if (!nodeName) {
    reply.header('content-type', 'text/plain').send('');
    return;
  }
  const host = agents.hostOf(await nodeOf(request, nodeName));
  if (host === undefined) {
    throw new StatusError(
      'InternalError',
      `no preferred addresses found; known addresses of ${nodeName} are none of them`,
    );
  }
  const query = options.forAgent.toString();
  const path = ['containerLogs', namespace, name, container].map(encodeURIComponent).join('/');
  const url = new URL(`https://${host}/${path}${query === '' ? '' : `?${query}`}`);
  const signal = AbortSignal.any([context.signal, services.options.shutdown]);
  const answer = await agents.client.get(url, options.skipVerify, signal).catch((error: unknown) => {
    if (context.signal.aborted) throw timeoutError('the client has left', 0, error);
    if (signal.aborted) throw serviceUnavailableError('the server is shutting down');
    if (!(error instanceof NodeAgentFault)) throw error;
    throw new StatusError('InternalError', `Get ${JSON.stringify(url.href)}: ${error.message}`, { cause: error });
  });
  if (answer.statusCode !== 200) throw await refusal(answer, name);
  await pass(request, answer);
}

/** The container that is meant. Throws a 400 when the pod has no such one, or several and none is named. */
function containerOf({ metadata, spec }: ReadPod, options: LogOptions): string {
  const names = (containers: readonly { readonly name: string }[] | null | undefined) =>
    (containers ?? []).map((container) => container.name);
  const regular = names(spec.containers);
  const inits = names(spec.initContainers);
  const { container } = options;
  if (container === '') {
    const [only] = regular;
    if (only !== undefined && regular.length === 1) return only;
    const more = inits.length === 0 ? '' : ` or one of the init containers: [${inits.join(' ')}]`;
    throw badRequestError(
      `a container name must be specified for pod ${metadata.name}, choose one of: [${regular.join(' ')}]${more}`,
    );
  }
  if ([...regular, ...inits, ...names(spec.ephemeralContainers)].includes(container)) return container;
  throw badRequestError(`container ${container} is not valid for pod ${metadata.name}`);
}

async function nodeOf({ services }: ResourceRequest, name: string): Promise<ReadNode> {
  const nodes = services.registry.findServed('', 'v1', 'nodes');
  if (nodes === undefined || !isStoredResource(nodes)) throw notFoundError({ group: '', resource: 'nodes' }, name);
  return parseText(nodes, (await services.storeOf(nodes).get('', name)).json) as unknown as ReadNode;
}

/** What an agent refuses, in its words. */
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
  // What an agent thinks of this server says nothing about the client.
  return new StatusError('InternalError', `the node agent answered ${code}: ${message}`);
}

async function beginningOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of answer) {
      chunks.push(chunk as Buffer);
      size += (chunk as Buffer).length;
      if (size >= maxMessageBytes) break;
    }
  } catch {
    // What came until then is enough.
  }
  answer.destroy();
  return Buffer.concat(chunks).subarray(0, maxMessageBytes).toString('utf8');
}

/** Writes the text at the pace of the client. Whatever ends it early ends the client's stream, too. */
async function pass(request: ResourceRequest, answer: IncomingMessage): Promise<void> {
  const { context, reply, services } = request;
  const { raw } = reply;
  const ended = services.metrics.longRunningStarted(requestLabels(request));
  reply.hijack();
  try {
    raw.setHeader('content-type', 'text/plain');
    raw.setHeader('cache-control', 'no-cache, private');
    if (context.warnings.length > 0) raw.setHeader('warning', context.warnings.map(formatWarning));
    raw.writeHead(200);
    (raw as { flushHeaders?: () => void }).flushHeaders?.();
    const writer = new ResponseWriter(raw, context.unread);
    writer.onGone(() => answer.destroy());
    try {
      for await (const chunk of answer) await writer.write(chunk as Buffer);
    } catch {
      // A log that ends because this server stops is complete, as far as its client can tell.
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
