import type { UserInfo } from '../../../base/machinery/request-context.js';
import { badRequestError, internalError, methodNotAllowedError } from '../../../base/machinery/status-error.js';
import type { ConnectSubresource } from '../../../objects/registry/subresource-definition.js';
import { handleProxy } from '../proxy/handle-proxy.js';
import { decodedPath, divideUrl } from '../proxy/proxied-path.js';
import { type ResourceRequest, requestLabels } from '../resource-request.js';
import { checkOrigin, upgradeOf } from '../web-sockets.js';
import { ConnectAttributes } from './connect-attributes.js';
import { connectOptions, type StreamOptions } from './connect-options.js';
import { connectPod, type PodTarget } from './connect-pod.js';

/**
 * Connects a client with a program outside of this server: a program in a container or ports of a pod, through the
 * agent of its node, or another HTTP server (specification 4.1). Admission checks the options first, with the operation
 * CONNECT.
 */
export async function handleConnect(request: ResourceRequest, subresource: ConnectSubresource): Promise<void> {
  const { services, context, http, reply } = request;
  const isProxy = subresource.target === 'proxy';
  if (!isProxy && http.method !== 'GET' && http.method !== 'POST') throw methodNotAllowedError();
  // A client that requests a dry run must not run anything.
  if (context.query.getAll('dryRun').some((value) => value !== '')) throw badRequestError('dryRun is not supported');
  const upgrade = upgradeOf(reply.raw);
  if (upgrade !== undefined) checkOrigin(upgrade);
  const { admission } = services;
  if (admission === undefined) throw internalError(new Error('this process does not connect clients'));
  // Opening a stream can change the pod, so a GET, the only method with which browsers can open one, also requires the
  // right to create. That holds for streams to node agents, too, which run commands in all pods of their nodes.
  const opensStream = !isProxy || (upgrade !== undefined && request.resource.definition.singular === 'node');
  if (opensStream && http.method === 'GET') await admission.requireRightTo('create', context);
  const leave = services.streamSeats.enter((context.user as UserInfo).name);
  const ended = services.metrics.longRunningStarted(requestLabels(request));
  try {
    const url = isProxy ? divideUrl(http.raw.url ?? '/', context.requestInfo) : undefined;
    const path = url === undefined ? '' : decodedPath(url);
    const attributes = new ConnectAttributes(request, connectOptions(subresource, context.query, path));
    await admission.admit(attributes);
    await admission.validate(attributes);
    const options = attributes.object as unknown as StreamOptions & { readonly path?: string };
    if (url !== undefined) await handleProxy(request, url, options.path ?? '', upgrade);
    else await connectPod(request, subresource.target as PodTarget, options, upgrade);
  } finally {
    leave();
    ended();
  }
}
