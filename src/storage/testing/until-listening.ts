import type { StorageObserver } from '../postgres/postgres-storage-options.js';

/**
 * An observer, and a promise `begun` that resolves once a store's listener has connected and requested a read of the log.
 */
export function untilListening(observer: StorageObserver): {
  readonly observer: StorageObserver;
  readonly begun: Promise<void>;
} {
  const begun = Promise.withResolvers<void>();
  const query = (name: string) => {
    if (name === 'unlisten') begun.resolve();
  };
  return { observer: { ...observer, query }, begun: begun.promise };
}
