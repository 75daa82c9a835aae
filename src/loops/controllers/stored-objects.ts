import type { ApiObject } from '../../base/machinery/api-object.js';
import type { StoredServedResource } from '../../objects/registry/resource-registry.js';
import { parseStored } from '../../objects/registry/store/object-codec.js';
import { mostPageBytes } from '../../storage/page-size.js';
import type { ListPosition, Storage } from '../../storage/storage.interface.js';

const pageSize = 500;

/**
 * The objects of a resource at one moment, page by page, so that memory holds one page of them; without a namespace,
 * those of all namespaces.
 */
export async function* storedObjects<T extends ApiObject>(
  storage: Storage,
  resource: StoredServedResource,
  namespace?: string,
): AsyncGenerator<T> {
  const scope = { resource: resource.storageResource, ...(namespace === undefined ? {} : { namespace }) };
  let after: ListPosition | undefined;
  let at: bigint | undefined;
  for (;;) {
    const page = await storage.list({ ...scope, limit: pageSize, pageBytes: mostPageBytes, after, at });
    at = page.resourceVersion;
    for (const item of page.items) yield parseStored(resource, item) as T;
    const last = page.items.at(-1);
    if (!page.more || last === undefined) return;
    after = { namespace: last.key.namespace, name: last.key.name };
  }
}
