import { setTimeout as pause } from 'node:timers/promises';
import type { ServerOptions } from '../../base/config/server-options.js';
import { sqlProjectionMode } from '../../base/config/sql-projection.js';
import type { Running } from '../../base/machinery/lifecycle.js';
import { systemTimers } from '../../base/machinery/timers.js';
import { VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import type { Logger } from '../../base/observability/logger.js';
import { openApplicationContext } from '../../base/process/application-context.js';
import { SqlProjectionController } from '../../loops/controllers/sql-projection/sql-projection.controller.js';
import { SqlViewsController } from '../../loops/controllers/sql-views/sql-views.controller.js';
import { ResourceRegistry } from '../../objects/registry/resource-registry.js';
import { ResourcesAppModule } from '../../resources-app.module.js';
import { hasBegun, type ReplicaSettings, subscribe } from '../../storage/postgres/replica.js';

/** A replica that this process maintains. */
export interface RunningReplica extends Running {
  /** Rejects when a fault of this process keeps it from maintaining the replica. */
  readonly ended: Promise<unknown>;
}

const lookMs = 1_000;

/**
 * Keeps a replica: makes it follow the database of the servers, waits until it has everything, then maintains its
 * views, its rows and its past. PostgreSQL does everything else, and continues without this process.
 *
 * @param signal ends the wait for the copy; then undefined is returned
 *
 * @throws StartupError, MigrationError or StorageError when one of the databases can't be used.
 */
export async function runReplica(
  options: Pick<ServerOptions, 'storage' | 'cluster'>,
  replica: ReplicaSettings,
  logger: Logger,
  signal: AbortSignal,
): Promise<RunningReplica | undefined> {
  if (await subscribe(replica)) logger.info('the replica follows; the objects and the log are copied');
  while (!(await hasBegun(replica.databaseUrl))) {
    if (signal.aborted) return undefined;
    await pause(lookMs, undefined, { signal }).catch(() => undefined);
  }
  const resources = await openApplicationContext(ResourcesAppModule.of(options, logger, signal), logger);
  const registry = resources.get(ResourceRegistry);
  const { suffix } = resources.get<VendorNames>(VENDOR_NAMES);
  const { sqlProjection, sqlProjectionOverrides } = options.storage;
  const mode = sqlProjectionMode(sqlProjection, sqlProjectionOverrides);
  const parts = { databaseUrl: replica.databaseUrl, registry, suffix, mode, timers: systemTimers, logger };
  const stopping = new AbortController();
  const loops = [new SqlViewsController(parts), ...(mode.hasTables ? [new SqlProjectionController(parts)] : [])];
  const ended = Promise.all(loops.map((loop) => loop.run(stopping.signal)));
  logger.info('the replica is ready to be read');
  return {
    ended,
    stop: async () => {
      stopping.abort();
      await ended.catch(() => undefined);
      await resources.close();
    },
  };
}
