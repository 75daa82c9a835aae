import type { ApiObject } from '../machinery/api-object.js';
import type { GroupVersionResource } from '../machinery/group-version.js';
import { serverContext } from '../machinery/internal-context.js';
import type { RequestContext } from '../machinery/request-context.js';
import { decode } from '../machinery/schema/index.js';
import { StatusError } from '../machinery/status-error.js';
import type { GroupContext } from './group-context.js';
import type { ServedResource } from './resource-registry.js';
import { Store } from './store.js';

/**
 * Creates an object that every cluster has, unless it is there, by the rules of its kind. Safe for many processes at once.
 *
 * @throws StatusError when it can't be written.
 */
export async function ensureObject(context: GroupContext, gvr: GroupVersionResource, body: ApiObject): Promise<void> {
  const resource = context.registry.find(gvr.group, gvr.version, gvr.resource);
  if (resource === undefined) throw new Error(`the resource ${gvr.resource} is not registered`);
  const { name = '', namespace = '' } = body.metadata;
  const storage = context.storage;
  if ((await storage.get({ resource: resource.storageResource, namespace, name })) !== undefined) return;
  const object = decode(resource.served.type, body).value as ApiObject;
  resource.definition.strategy.applyDefaults?.(object);
  const store = new Store(resource, storage, context.clock);
  try {
    await store.create(systemRequest(resource, body, context), object, {
      dryRun: false,
      validate: () => Promise.resolve(),
    });
  } catch (error) {
    if (!(error instanceof StatusError && error.reason === 'AlreadyExists')) throw error;
  }
}

/** The server's own request, which no client sent. */
function systemRequest({ definition, served }: ServedResource, body: ApiObject, context: GroupContext): RequestContext {
  const { name = '', namespace = '' } = body.metadata;
  return serverContext(context.clock.now(), undefined, {
    isResourceRequest: true,
    path: '',
    verb: 'create',
    apiPrefix: definition.group === '' ? 'api' : 'apis',
    apiGroup: definition.group,
    apiVersion: served.version,
    namespace,
    resource: definition.resource,
    subresource: '',
    name,
    parts: [definition.resource],
  });
}
