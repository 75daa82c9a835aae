import { historyExclusions, type StorageOptions } from '../../base/config/storage.options.js';
import type { Sealing } from '../encryption/sealing.js';
import { watchBacklogCharacters } from '../watch-backlog-characters.js';
import type { ResolvedOptions, StorageObserver } from './postgres-storage-options.js';
import { resolveOptions } from './postgres-storage-options.js';

/** The storage options with the database URL filled in; `--database-url` may be unset. */
export type SettledStorageOptions = StorageOptions & { readonly databaseUrl: string };

/**
 * The settings of the connections to the database, from the flags.
 *
 * @param suffix of the names of the vendor's groups
 */
export function storageSettings(
  options: SettledStorageOptions,
  {
    suffix,
    ...parts
  }: { readonly suffix: string; readonly observer: StorageObserver; readonly sealing?: Sealing | undefined },
): ResolvedOptions {
  return resolveOptions({
    databaseUrl: options.databaseUrl,
    listenDatabaseUrl: options.listenDatabaseUrl,
    readDatabaseUrl: options.readDatabaseUrl,
    poolSize: options.databasePoolSize,
    watchHistoryMs: options.watchHistoryMs,
    historyRetentionMs: options.historyRetentionMs,
    historyMaxBytes: options.historyMaxBytes,
    historyExclude: historyExclusions(options, suffix),
    watchBacklogCharacters: watchBacklogCharacters(options),
    ...parts,
  });
}
