import type { FastifyReply, FastifyRequest } from 'fastify';
import { forward } from '../large/forward.js';
import { LargeWork } from '../large/large-work.js';
import { addWarning } from '../machinery/request-context.js';
import { methodNotAllowedError, unknownPathError } from '../machinery/status-error.js';
import { readOnlyPaths } from './discovery/read-only-paths.js';
import { handleApply } from './handlers/apply.js';
import { handleComputed } from './handlers/computed.js';
import { handleCreate } from './handlers/create.js';
import { handleDelete } from './handlers/delete.js';
import { handleDeleteCollection } from './handlers/delete-collection.js';
import { handleGet } from './handlers/get.js';
import { handleList } from './handlers/list.js';
import { applyMediaType, handlePatch, patchMediaType } from './handlers/patch.js';
import { handleSubresourceCreate, handleSubresourceWrite } from './handlers/subresource.js';
import { handleUpdate } from './handlers/update.js';
import { handleWatch } from './handlers/watch.js';
import type { HttpRequestContext } from './request-info/request-context.js';
import { type ResourceRequest, resolveRequest } from './resource-request.js';
import type { EndpointServices } from './services.js';

/**
 * Finds out what a resource request is about and hands it to the handler of its verb; to another thread, when it is about
 * something large.
 */
export async function handleResource(
  services: EndpointServices,
  http: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const context = http.plinthContext as HttpRequestContext;
  if (!context.requestInfo.isResourceRequest) throw plainPathError(services, context.requestInfo.path);
  const request = resolveRequest(services, context, http, reply);
  context.resourceRequest = request;
  // Also on the old paths that name the verb.
  if (request.verb === 'watch' && http.method !== 'GET') throw methodNotAllowedError();
  noteDeprecation(request);
  const lane = services.largeLane;
  if (lane === undefined || request.verb === 'watch') return handle(request);
  context.canLeave = true;
  context.isCostly = /yaml/i.test(request.accept ?? '');
  try {
    await handle(request);
  } catch (error) {
    if (!(error instanceof LargeWork)) throw error;
    await forward(lane, context, http, reply);
  }
}

async function handle(request: ResourceRequest): Promise<void> {
  const { context, resource, subresource, verb } = request;
  if (resource.definition.compute !== undefined) return handleComputed(request);
  switch (verb) {
    case 'get':
      return handleGet(request);
    case 'list':
      return handleList(request);
    case 'watch':
      return handleWatch(request);
    case 'create':
      return subresource === undefined ? handleCreate(request) : handleSubresourceCreate(request);
    case 'update':
    case 'patch':
      if (subresource?.write !== undefined) return handleSubresourceWrite(request);
      if (verb === 'update') return handleUpdate(request);
      return patchMediaType(context.contentType) === applyMediaType ? handleApply(request) : handlePatch(request);
    case 'delete':
      return handleDelete(request);
    case 'deletecollection':
      return handleDeleteCollection(request);
    default:
      throw methodNotAllowedError();
  }
}

/** What reads a path is routed before: here is another method on it, or a path that nothing is served at. */
function plainPathError(services: EndpointServices, path: string): Error {
  return path === '/' || readOnlyPaths(services).includes(path) ? methodNotAllowedError() : unknownPathError();
}

/** Requests to a deprecated version get a warning, an audit annotation and a metric (specification 6.2, 6.3). */
function noteDeprecation({ services, context, resource, subresource }: ResourceRequest): void {
  const { served, definition } = resource;
  if (served.deprecated === undefined) return;
  addWarning(context, served.deprecated.warning);
  context.auditAnnotations.set(`${services.names.suffix}/deprecated`, 'true');
  services.metrics.deprecatedRequest({
    group: definition.group,
    version: served.version,
    resource: definition.resource,
    subresource: subresource?.name ?? '',
    removed_release: served.deprecated.removedRelease,
  });
}
