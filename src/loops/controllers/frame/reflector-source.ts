import type { Logger } from '../../../base/observability/logger.js';
import { type ObjectSink, Reflector } from '../../../objects/registry/informers/reflector.js';
import type { ResourceRegistry } from '../../../objects/registry/resource-registry.js';
import type { Storage } from '../../../storage/storage.interface.js';
import type { Source } from './reconcile-loop.js';

export interface ReflectorSourceDependencies {
  readonly storage: Storage;
  readonly registry: ResourceRegistry;
  readonly logger: Logger;
}

/**
 * A source of a loop that tracks a resource itself, for example only a part of each object. The sink may queue keys at
 * any time; work on them begins when the sink has been filled.
 *
 * @param resource the name under which the objects are stored
 */
export function reflectorSource(
  { storage, registry, logger }: ReflectorSourceDependencies,
  resource: string,
  sink: ObjectSink,
): Source {
  let reflector: Reflector | undefined;
  const lost = (error: unknown) => logger.warn('a control loop lost its place in the change log', { resource, error });
  const informer = {
    use: async (signal: AbortSignal): Promise<void> => {
      reflector = new Reflector(storage, registry, resource, sink, lost);
      await reflector.start(signal);
    },
    reached: async (version: bigint): Promise<void> => reflector?.reached(version),
  };
  return { informer, feed: () => undefined };
}
