import type { StorageOptions } from '../config/storage.options.js';
import type { Logger } from '../observability/logger.js';
import type { Metrics } from '../observability/metrics.js';
import { storageObserver } from '../observability/storage-observer.js';
import { watchCacheObserver } from '../observability/watch-cache-observer.js';
import { CachedStorage } from '../storage/cacher/cache-delegator.js';
import { createPostgresStorage, type PostgresStorage } from '../storage/postgres/postgres-storage.js';
import type { Storage } from '../storage/storage.interface.js';

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

/** Connects to the database and puts the watch cache before it; throws what `createPostgresStorage` throws. */
export async function openStorage(
  options: StorageOptions & { readonly databaseUrl: string },
  metrics: Metrics,
  logger: Logger,
): Promise<OpenStorage> {
  const database = await createPostgresStorage({
    databaseUrl: options.databaseUrl,
    listenDatabaseUrl: options.listenDatabaseUrl,
    poolSize: options.databasePoolSize,
    watchHistoryMs: options.watchHistoryMs,
    observer: storageObserver(metrics, logger),
  });
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
