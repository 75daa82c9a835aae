import type { FastifyReply, FastifyRequest } from 'fastify';
import { freeBuffer } from '../../base/machinery/free-buffer.js';
import { LargeWork } from '../../base/machinery/large-work.js';
import { addWarning } from '../../base/machinery/request-context.js';
import { methodNotAllowedError } from '../../base/machinery/status-error.js';
import type { SubresourceDefinition } from '../../objects/registry/subresource-definition.js';
import { readOnlyPaths } from './discovery/read-only-paths.js';
import type { EndpointServices } from './endpoint-services.js';
import { handleApply } from './handlers/apply.js';
import { handleComputed } from './handlers/computed.js';
import { handleCreate, handleReview } from './handlers/create.js';
import { handleDelete } from './handlers/delete.js';
import { handleDeleteCollection } from './handlers/delete-collection.js';
import { handleGet } from './handlers/get.js';
import { handleList } from './handlers/list.js';
import { applyFormat, handlePatch } from './handlers/patch.js';
import { handlePerform, handleSubresourceCreate } from './handlers/subresource.js';
import { handleUpdate } from './handlers/update.js';
import { handleWatch } from './handlers/watch.js';
import { handleLog } from './node-agents/handle-log.js';
import { handleRemote } from './remote/handle-remote.js';
import type { HttpRequestContext } from './request-info/http-request-context.js';
import { type ResourceRequest, resolveRequest } from './resource-request.js';
import { handleConnect } from './streams/handle-connect.js';
import { unknownPath } from './unknown-path.js';

/**
 * Resolves a resource request and passes it to the handler of its verb, or to another thread if it involves a large
 * object. Requests for a group version of an extension server are forwarded to it.
 */
export async function handleResource(
  services: EndpointServices,
  http: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const context = http.plinthContext as HttpRequestContext;
  context.audit?.entered();
  try {
    await handleResolved(services, context, http, reply);
  } catch (error) {
    if (context.isTimedOut) services.metrics.endedAfterTimeout('error');
    throw error;
  } finally {
    context.audit?.left();
    freeBuffer(context.body);
    context.body = undefined;
  }
  if (context.isTimedOut) services.metrics.endedAfterTimeout('ok');
}

async function handleResolved(
  services: EndpointServices,
  context: HttpRequestContext,
  http: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { isResourceRequest, path, apiPrefix, apiGroup, apiVersion } = context.requestInfo;
  if (!isResourceRequest) throw plainPathError(services, path);
  const remote = apiPrefix === 'apis' ? services.aggregation?.services.remote(apiGroup, apiVersion) : undefined;
  if (remote !== undefined) return handleRemote(services, remote, http, reply);
  const request = resolveRequest(services, context, http, reply);
  context.resourceRequest = request;
  context.bytesInHand = services.inHand;
  // Also applies to the old paths that contain the verb (`/watch/`).
  if (request.verb === 'watch' && http.method !== 'GET') throw methodNotAllowedError();
  noteDeprecation(request);
  const { largeRequests } = services;
  if (largeRequests === undefined || request.verb === 'watch') return handle(request);
  context.mayChangeThread = true;
  context.isCostly = /yaml/i.test(request.accept ?? '');
  try {
    await handle(request);
  } catch (error) {
    if (!(error instanceof LargeWork)) throw error;
    await largeRequests.forward(context, http, reply, services.registry.changedAt);
  }
}

async function handle(request: ResourceRequest): Promise<void> {
  const { definition } = request.resource;
  switch (definition.type) {
    case 'stored': {
      const waiting = definition.prepare?.();
      if (waiting !== undefined) await waiting;
      return request.subresource === undefined ? handleObject(request) : handleBelow(request, request.subresource);
    }
    case 'virtual':
      return handleReview(request, definition);
    case 'computed':
      return handleComputed(request, definition);
  }
}

async function handleObject(request: ResourceRequest): Promise<void> {
  switch (request.verb) {
    case 'get':
      return handleGet(request);
    case 'list':
      return handleList(request);
    case 'watch':
      return handleWatch(request);
    case 'create':
      return handleCreate(request);
    case 'update':
      return handleUpdate(request);
    case 'patch':
      return handleAnyPatch(request);
    case 'delete':
      return handleDelete(request);
    case 'deletecollection':
      return handleDeleteCollection(request);
  }
}

async function handleBelow(request: ResourceRequest, subresource: SubresourceDefinition): Promise<void> {
  switch (subresource.type) {
    case 'part':
    case 'view':
      if (request.verb === 'get') return handleGet(request);
      return request.verb === 'update' ? handleUpdate(request) : handleAnyPatch(request);
    case 'created':
      return handleSubresourceCreate(request, subresource);
    case 'virtual':
      return handlePerform(request, subresource);
    case 'stream':
      return handleLog(request);
    case 'connect':
      return handleConnect(request, subresource);
  }
}

function handleAnyPatch(request: ResourceRequest): Promise<void> {
  const format = applyFormat(request);
  return format === undefined ? handlePatch(request) : handleApply(request, format);
}

/**
 * The error for a non-resource path. Reads have their own routes, so the request has another method or an unknown path.
 */
function plainPathError(services: EndpointServices, path: string): Error {
  // A trailing slash makes no difference, as for reads.
  const plain = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
  return plain === '/' || readOnlyPaths(services).includes(plain)
    ? methodNotAllowedError()
    : unknownPath(services, path);
}

/** Requests to a deprecated version get a warning, an audit annotation and a metric (specification 6.2, 6.3). */
function noteDeprecation({ services, context, resource, subresource }: ResourceRequest): void {
  const { served, definition } = resource;
  if (served.deprecated === undefined) return;
  addWarning(context, served.deprecated.warning);
  context.auditAnnotations.set(`${services.names.suffix}/deprecated`, 'true');
  if (served.deprecated.removedRelease !== '') {
    context.auditAnnotations.set(`${services.names.suffix}/removed-release`, served.deprecated.removedRelease);
  }
  services.metrics.deprecatedRequest({
    group: definition.group,
    version: served.version,
    resource: definition.resource,
    subresource: subresource?.name ?? '',
    removed_release: served.deprecated.removedRelease,
  });
}
