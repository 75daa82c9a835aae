import type { Logger } from '../../../base/observability/logger.js';
import { ChangeInformer } from '../../../objects/registry/informers/change-informer.js';
import type { Change, Storage } from '../../../storage/storage.interface.js';
import type { Source } from './reconcile-loop.js';

export interface ChangeSourceDependencies {
  readonly storage: Storage;
  readonly logger: Logger;
}

/** Decides which keys need work. */
export interface ChangeKeys {
  /** The keys that need work after a change. */
  keysOf(change: Change): Iterable<string>;
  /** All keys: used at the start, and when changes may have been missed. */
  all(): Iterable<string>;
}

/**
 * A source of a loop that only needs to know which objects of a resource change, and keeps none of them in memory: for
 * resources with large or confidential objects. `reconcile` has to read the store.
 *
 * @param resource the name under which the objects are stored
 */
export function changeSource(
  { storage, logger }: ChangeSourceDependencies,
  resource: string,
  keys: ChangeKeys,
): Source {
  let notify = (_keys: Iterable<string>): void => undefined;
  const informer = {
    use: async (signal: AbortSignal): Promise<void> => {
      const handler = {
        changed: (_key: unknown, change: Change) => notify(keys.keysOf(change)),
        missed: () => notify(keys.all()),
      };
      const lost = (error: unknown) =>
        logger.warn('a control loop lost its place in the change log', { resource, error });
      await new ChangeInformer(storage, resource, handler, lost).start(signal);
    },
    // Nothing is kept that could be stale.
    reached: async () => undefined,
  };
  const feed: Source['feed'] = (add, signal) => {
    notify = (found) => {
      for (const key of found) add(key);
    };
    signal.addEventListener('abort', () => (notify = () => undefined), { once: true });
    // At the start every existing object is new to the controller.
    notify(keys.all());
  };
  return { informer, feed };
}
