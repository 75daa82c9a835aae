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
import { type RequestScope, resolveScope } from './request-scope.js';
import type { EndpointServices } from './services.js';

/**
 * Finds out what a resource request is about and hands it to the handler of its verb; to another thread, when it is about
 * something large.
 */
export async function handleResource(
  services: EndpointServices,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const context = request.plinthContext as HttpRequestContext;
  if (!context.requestInfo.isResourceRequest) throw plainPathError(services, context.requestInfo.path);
  const scope = resolveScope(services.registry, context.requestInfo);
  context.scope = scope;
  // Also on the old paths that name the verb.
  if (scope.verb === 'watch' && request.method !== 'GET') throw methodNotAllowedError();
  noteDeprecation(services, context, scope);
  const lane = services.largeLane;
  if (lane === undefined || scope.verb === 'watch') return handleScope(services, context, scope, request, reply);
  context.canLeave = true;
  context.isCostly = /yaml/i.test(request.headers.accept ?? '');
  try {
    await handleScope(services, context, scope, request, reply);
  } catch (error) {
    if (!(error instanceof LargeWork)) throw error;
    await forward(lane, context, request, reply);
  }
}

async function handleScope(
  services: EndpointServices,
  context: HttpRequestContext,
  scope: RequestScope,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { accept } = request.headers;
  if (scope.resource.definition.compute !== undefined) return handleComputed(services, context, scope, accept, reply);
  switch (scope.verb) {
    case 'get':
      return handleGet(services, context, scope, accept, reply);
    case 'list':
      return handleList(services, context, scope, accept, reply);
    case 'watch':
      return handleWatch(services, context, scope, accept, reply);
    case 'create':
      if (scope.subresource !== undefined) return handleSubresourceCreate(services, context, scope, request, reply);
      return handleCreate(services, context, scope, request, reply);
    case 'update':
    case 'patch':
      if (scope.subresource?.write !== undefined)
        return handleSubresourceWrite(services, context, scope, request, reply);
      if (scope.verb === 'update') return handleUpdate(services, context, scope, request, reply);
      if (patchMediaType(context.contentType) === applyMediaType) {
        return handleApply(services, context, scope, request, reply);
      }
      return handlePatch(services, context, scope, request, reply);
    case 'delete':
      return handleDelete(services, context, scope, request, reply);
    case 'deletecollection':
      return handleDeleteCollection(services, context, scope, request, reply);
    default:
      throw methodNotAllowedError();
  }
}

/** What reads a path is routed before: here is another method on it, or a path that nothing is served at. */
function plainPathError(services: EndpointServices, path: string): Error {
  return path === '/' || readOnlyPaths(services).includes(path) ? methodNotAllowedError() : unknownPathError();
}

/** Requests to a deprecated version get a warning, an audit annotation and a metric (specification 6.2, 6.3). */
function noteDeprecation(services: EndpointServices, context: HttpRequestContext, scope: RequestScope): void {
  const { served, definition } = scope.resource;
  if (served.deprecated === undefined) return;
  addWarning(context, served.deprecated.warning);
  context.auditAnnotations.set(`${services.names.suffix}/deprecated`, 'true');
  services.metrics.deprecatedRequest({
    group: definition.group,
    version: served.version,
    resource: definition.resource,
    subresource: scope.subresource?.name ?? '',
    removed_release: served.deprecated.removedRelease,
  });
}
