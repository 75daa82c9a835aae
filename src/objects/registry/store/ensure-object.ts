import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { GroupResource } from '../../../base/machinery/group-version.js';
import { serverContext } from '../../../base/machinery/internal-context.js';
import type { RequestContext } from '../../../base/machinery/request-context.js';
import { decode } from '../../../base/machinery/schema/index.js';
import { StatusError } from '../../../base/machinery/status-error.js';
import type { ResourceStores } from './resource-stores.js';
import type { Store } from './store.js';

/**
 * Creates an object that every cluster has, by the rules of its kind, unless it exists. Safe for many processes at
 * once.
 *
 * @param manager the field manager of the object
 * @throws StatusError when the object can't be written.
 */
export async function ensureObject(
  stores: ResourceStores,
  { group, resource: name }: GroupResource,
  body: ApiObject,
  manager: string,
): Promise<void> {
  const store = stores.owning(group, name, manager);
  const { resource } = store;
  const { name: objectName = '', namespace = '' } = body.metadata;
  const key = { resource: resource.storageResource, namespace, name: objectName };
  if ((await stores.storage.get(key)) !== undefined) return;
  const object = decode(resource.served.type, body).value as ApiObject;
  resource.definition.strategy.applyDefaults?.(object);
  try {
    await store.create(systemRequest(store, 'create', body.metadata, stores.clock.now()), object, {
      dryRun: false,
      validate: () => Promise.resolve(),
    });
  } catch (error) {
    if (!(error instanceof StatusError && error.reason === 'AlreadyExists')) throw error;
  }
}

/** Deletes an object that the server made, if it is still the one with this uid. */
export async function deleteOwn(
  stores: ResourceStores,
  { group, resource }: GroupResource,
  { name = '', namespace = '' }: ApiObject['metadata'],
  uid: string,
): Promise<void> {
  const store = stores.named(group, resource);
  const context = systemRequest(store, 'delete', { name, namespace }, stores.clock.now());
  try {
    await store.delete(context, namespace, name, { dryRun: false, validate: () => Promise.resolve(), uid });
  } catch (error) {
    if (!(error instanceof StatusError && error.reason === 'NotFound')) throw error;
  }
}

/** The server's own request, which no client sent. */
function systemRequest(
  { resource: { definition, served } }: Store,
  verb: 'create' | 'delete',
  { name = '', namespace = '' }: ApiObject['metadata'],
  now: number,
): RequestContext {
  return serverContext(now, undefined, {
    isResourceRequest: true,
    path: '',
    verb,
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
