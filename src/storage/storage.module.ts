import { availableParallelism } from 'node:os';
import { Inject, Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { ClusterOptions } from '../base/config/cluster.options.js';
import { FEATURE_GATES, type FeatureGates } from '../base/config/feature-gates.js';
import { SecureServingOptions } from '../base/config/secure-serving.options.js';
import { StorageOptions } from '../base/config/storage.options.js';
import { watchCacheBytes } from '../base/config/watch-cache-bytes.js';
import { watchCacheSizes } from '../base/config/watch-cache-sizes.js';
import { memoryLimits } from '../base/machinery/memory-limits.js';
import { errorText, StartupError } from '../base/machinery/startup-error.js';
import { vendorNames } from '../base/machinery/vendor.js';
import { encryptionReloads } from '../base/observability/encryption-reloads.js';
import { kmsCalls } from '../base/observability/kms-calls.js';
import { Logger } from '../base/observability/logger.js';
import { Metrics } from '../base/observability/metrics.js';
import { registerStorageObjects } from '../base/observability/storage-objects.js';
import { storageObserver } from '../base/observability/storage-observer.js';
import { watchCacheObserver } from '../base/observability/watch-cache-observer.js';
import { CachedStorage } from './cacher/cached-storage.js';
import { HeapBudget } from './cacher/heap-budget.js';
import { liveBytes } from './cacher/memory-budget.js';
import { EncryptionAtRest } from './encryption/encryption-at-rest.js';
import { type OpenDatabase, PostgresStorage } from './postgres/postgres-storage.js';
import { type SettledStorageOptions, storageSettings } from './postgres/storage-settings.js';
import { StartPatience } from './start-patience.js';
import { STORAGE, type Storage } from './storage.interface.js';
import { watchBacklogCharacters } from './watch-backlog-characters.js';
import { WAY_TO_DATABASE } from './way-to-database.module.js';

/** How long a stopping process waits for reads of the cache. */
const cachePatienceMs = 5_000;

/**
 * The store in its layers. `PostgresStorage` is the database itself. `STORAGE` answers requests: it is the database
 * behind its watch cache, unless the cache is switched off.
 *
 * Making the providers opens nothing. The database is opened when the module starts, before any module that imports
 * this one, and closed after all of them have stopped. A factory that opened it would leave it open when another
 * provider fails, because Nest returns no half-made application that could be closed.
 */
@Module({
  providers: [
    {
      provide: EncryptionAtRest,
      inject: [StorageOptions, ClusterOptions, Metrics, Logger],
      useFactory: encryption,
    },
    {
      provide: PostgresStorage,
      inject: [
        StorageOptions,
        ClusterOptions,
        Metrics,
        Logger,
        EncryptionAtRest,
        { token: WAY_TO_DATABASE, optional: true },
      ],
      useFactory: (
        options: SettledStorageOptions,
        { vendor, compat }: ClusterOptions,
        metrics: Metrics,
        logger: Logger,
        { sealing }: EncryptionAtRest,
        open?: OpenDatabase,
      ) => {
        const { suffix } = vendorNames(vendor, compat);
        const observer = storageObserver(metrics, logger, options.slowStatementThresholdMs);
        const storage = new PostgresStorage(storageSettings(options, { suffix, observer, sealing }), open);
        registerStorageObjects(metrics.registry, () => storage.census());
        return storage;
      },
    },
    {
      provide: STORAGE,
      inject: [
        PostgresStorage,
        StorageOptions,
        Metrics,
        Logger,
        FEATURE_GATES,
        { token: SecureServingOptions, optional: true },
      ],
      useFactory: cached,
    },
  ],
  exports: [PostgresStorage, STORAGE, EncryptionAtRest],
})
export class StorageModule implements OnModuleInit, OnApplicationShutdown {
  constructor(
    @Inject(PostgresStorage) private readonly database: PostgresStorage,
    @Inject(STORAGE) private readonly storage: Storage,
    @Inject(EncryptionAtRest) private readonly encryption: EncryptionAtRest,
    @Inject(StartPatience) private readonly patience: StartPatience,
  ) {}

  /**
   * Waits for the database.
   *
   * @throws MigrationError for a schema of another version, StorageError when the database can't be used.
   */
  async onModuleInit(): Promise<void> {
    await this.encryption.start();
    await this.patience.until(() => this.database.start());
  }

  /** Ends all watches, waits for writes in progress, and closes every connection. */
  async onApplicationShutdown(): Promise<void> {
    // The cache waits for its reads in progress.
    const late = setTimeout(() => this.database.giveUp(), cachePatienceMs);
    try {
      if (this.storage instanceof CachedStorage) await this.storage.stop();
      await this.database.stop();
    } finally {
      clearTimeout(late);
      this.encryption.stop();
    }
  }
}

function encryption(
  { encryptionProviderConfig, encryptionProviderConfigAutomaticReload }: StorageOptions,
  { vendor, compat }: ClusterOptions,
  metrics: Metrics,
  logger: Logger,
): EncryptionAtRest {
  try {
    return new EncryptionAtRest({
      file: encryptionProviderConfig,
      reloads: encryptionProviderConfigAutomaticReload,
      suffix: vendorNames(vendor, compat).suffix,
      logger,
      onReload: encryptionReloads(metrics.registry),
      onKmsCall: kmsCalls(metrics.registry),
    });
  } catch (error) {
    throw new StartupError(`--encryption-provider-config: ${errorText(error)}`);
  }
}

function cached(
  database: PostgresStorage,
  options: StorageOptions,
  metrics: Metrics,
  logger: Logger,
  features: FeatureGates,
  { workers } = { workers: 1 },
): Storage {
  if (!options.watchCache) return database;
  const limits = memoryLimits();
  const maxBytes = watchCacheBytes(options.watchCacheMaxBytes, workers, availableParallelism(), limits);
  const most = Math.floor(liveBytes(limits.heap));
  if (maxBytes > most) {
    const hint = 'NODE_OPTIONS=--max-old-space-size makes the heap larger';
    logger.warn('--watch-cache-max-bytes is more than the heap can hold', { bytes: maxBytes, most, hint });
  }
  const sizes = watchCacheSizes(options.defaultWatchCacheSize, options.watchCacheSizes);
  const cache: CachedStorage = new CachedStorage(database, {
    maxBytes,
    backlogCharacters: watchBacklogCharacters(options),
    budget: (cacheBytes, onChange) => new HeapBudget(cacheBytes, onChange),
    leastChanges: (resource) => sizes.of(resource),
    consistentLists: features.isOn('ConsistentListFromCache'),
    pastLists: features.isOn('ListFromCacheSnapshot'),
    observer: watchCacheObserver(
      metrics.registry,
      logger,
      () => cache.statistics(),
      () => cache.formBytes,
      () => cache.backlog.characters,
    ),
  });
  return cache;
}
