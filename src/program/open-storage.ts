import type { StorageOptions } from '../config/storage.options.js';
import type { Logger } from '../observability/logger.js';
import type { Metrics } from '../observability/metrics.js';
import { storageObserver } from '../observability/storage-observer.js';
import { watchCacheObserver } from '../observability/watch-cache-observer.js';
import { CachedStorage } from '../storage/cacher/cache-delegator.js';
import type { StorageObserver } from '../storage/postgres/options.js';
import { createPostgresStorage, type PostgresStorage } from '../storage/postgres/postgres-storage.js';
import type { Storage } from '../storage/storage.interface.js';
import { untilReady } from '../storage/until-ready.js';
import { errorText } from './startup-error.js';

/** How long reads of the cache may go on when the process stops. */
const cachePatienceMs = 5_000;

/** The store of a serving process, in its layers. */
export interface OpenStorage {
  /** The database itself. */
  readonly database: PostgresStorage;
  /** What requests are answered from: the database behind its watch cache, unless that is switched off. */
  readonly storage: Storage;
  /** Ends all watches, lets writes under way finish, closes every connection. */
  stop(): Promise<void>;
}

/**
 * Connects to the database, waiting for it while it is not ready, and puts the watch cache before it. Throws what
 * `createPostgresStorage` throws, at once when waiting would not heal it, or when `signal` is aborted.
 */
export async function openStorage(
  options: StorageOptions & { readonly databaseUrl: string },
  metrics: Metrics,
  logger: Logger,
  signal: AbortSignal = new AbortController().signal,
): Promise<OpenStorage> {
  const database = await openDatabase(options, storageObserver(metrics, logger), logger, signal);
  const cached: CachedStorage | undefined = options.watchCache
    ? new CachedStorage(database, {
        maxBytes: options.watchCacheMaxBytes,
        observer: watchCacheObserver(metrics.registry, logger, () => cached?.statistics() ?? []),
      })
    : undefined;
  return {
    database,
    storage: cached ?? database,
    stop: async () => {
      // The cache waits for what it reads just now.
      const late = setTimeout(() => database.giveUp(), cachePatienceMs);
      try {
        await cached?.stop();
        await database.stop();
      } finally {
        clearTimeout(late);
      }
    },
  };
}

/** The database alone, with the same patience. */
export function openDatabase(
  options: StorageOptions & { readonly databaseUrl: string },
  observer: StorageObserver,
  logger: Logger,
  signal: AbortSignal,
): Promise<PostgresStorage> {
  const open = () =>
    createPostgresStorage({
      databaseUrl: options.databaseUrl,
      listenDatabaseUrl: options.listenDatabaseUrl,
      poolSize: options.databasePoolSize,
      watchHistoryMs: options.watchHistoryMs,
      observer,
    });
  return untilReady(open, { signal, onWait: (error) => tellWaiting(logger, error) });
}

/** The start goes on when the database is ready. */
export function tellWaiting(logger: Logger, error: unknown): void {
  logger.warn('the start waits for the database', { reason: errorText(error) });
}
