import type { ApiObject } from '../../base/machinery/api-object.js';
import { bootstrapTokenSecretPrefix } from '../../base/machinery/bootstrap-token.js';
import type { Secret } from '../../objects/apis/core/v1/secret.types.js';
import type { ResourceRegistry, StoredServedResource } from '../../objects/registry/resource-registry.js';
import { changeSource } from './frame/change-source.js';
import type { ReconcileDependencies, Source } from './frame/reconcile-loop.js';
import { storedObjects } from './stored-objects.js';

/** The longest time between two checks of the tokens, even without a change. */
export const longestTokenWaitMs = 600_000;

/** The secrets of the system namespace that hold bootstrap tokens, selected by type. */
export async function listTokenSecrets({
  storage,
  registry,
  names,
}: Pick<ReconcileDependencies, 'storage' | 'registry' | 'names'>): Promise<(Secret & ApiObject)[]> {
  const resource = coreResource(registry, 'secrets');
  const found: (Secret & ApiObject)[] = [];
  for await (const secret of storedObjects<Secret & ApiObject>(storage, resource, names.systemNamespace)) {
    if (secret.type === names.bootstrapTokenSecretType) found.push(secret);
  }
  return found;
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
