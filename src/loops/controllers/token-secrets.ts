import type { ApiObject } from '../../base/machinery/api-object.js';
import { bootstrapTokenSecretPrefix } from '../../base/machinery/bootstrap-token.js';
import type { Secret } from '../../objects/apis/core/v1/secret.types.js';
import type { ResourceRegistry, StoredServedResource } from '../../objects/registry/resource-registry.js';
import { parseStored } from '../../objects/registry/store/object-codec.js';
import { mostPageBytes } from '../../storage/page-size.js';
import type { ListPosition } from '../../storage/storage.interface.js';
import { changeSource } from './frame/change-source.js';
import type { ReconcileDependencies, Source } from './frame/reconcile-loop.js';

const pageSize = 500;

/** The longest time between two looks at the tokens, even without a change. */
export const longestTokenWaitMs = 600_000;

/** The secrets of the system namespace that hold bootstrap tokens, selected by type. */
export async function listTokenSecrets({
  storage,
  registry,
  names,
}: Pick<ReconcileDependencies, 'storage' | 'registry' | 'names'>): Promise<(Secret & ApiObject)[]> {
  const resource = coreResource(registry, 'secrets');
  const found: (Secret & ApiObject)[] = [];
  const scope = { resource: resource.storageResource, namespace: names.systemNamespace };
  let after: ListPosition | undefined;
  let at: bigint | undefined;
  for (;;) {
    const page = await storage.list({ ...scope, limit: pageSize, pageBytes: mostPageBytes, after, at });
    at = page.resourceVersion;
    for (const item of page.items) {
      const secret = parseStored(resource, item) as Secret & ApiObject;
      if (secret.type === names.bootstrapTokenSecretType) found.push(secret);
    }
    const last = page.items.at(-1);
    if (!page.more || last === undefined) return found;
    after = { namespace: last.key.namespace, name: last.key.name };
  }
}

/** Queues `key` at the start, and when a secret changes that may be a bootstrap token: their names share a prefix. */
export function tokenChanges(dependencies: ReconcileDependencies, key: string): Source {
  return changeSource(dependencies, 'secrets', {
    keysOf: (change) => {
      const { namespace, name } = change.key;
      return namespace === dependencies.names.systemNamespace && name.startsWith(bootstrapTokenSecretPrefix)
        ? [key]
        : [];
    },
    all: () => [key],
  });
}

/** A core resource that must exist. @throws Error when it is not registered. */
export function coreResource(registry: ResourceRegistry, resource: string): StoredServedResource {
  const found = registry.findStoredResource('', 'v1', resource);
  if (found === undefined) throw new Error(`the resource ${resource} is not registered`);
  return found;
}
