import type { ServerOptions } from '../../../base/config/server-options.js';
import { vendorNames } from '../../../base/machinery/vendor.js';
import type { Logger } from '../../../base/observability/logger.js';
import { type MetricFamilies, Metrics, type MetricsPage } from '../../../base/observability/metrics.js';
import { storageObserver } from '../../../base/observability/storage-observer.js';
import { DatabaseHub } from '../../../storage/hub/database-hub.js';
import { type SettledStorageOptions, storageSettings } from '../../../storage/postgres/storage-settings.js';

/** The value of the label `worker` for the series of the parent. */
const parentIndex = 0;
/** Matches the metrics that the parent collects: database calls, the write queue and its own process. */
const counted = /^(storage_(?!feed)|workqueue_|process_|nodejs_)/;

/** The hub of the workers, and what it counts. */
export interface MachineDatabase {
  readonly hub: DatabaseHub;
  families(page: MetricsPage): Promise<MetricFamilies>;
}

/**
 * Opens the database for all workers: each has its part of the connections for reading, all in one pool. Workers that read
 * over connections of their own leave it few reads.
 */
export function machineDatabase(
  { storage, cluster, secureServing }: ServerOptions,
  workers: number,
  logger: Logger,
): MachineDatabase {
  const nothing = async () => undefined;
  const metrics = new Metrics({ index: parentIndex, gatherMetrics: nothing, gatherFlows: nothing });
  const settings = storageSettings(storage as SettledStorageOptions, {
    suffix: vendorNames(cluster.vendor, cluster.compat).suffix,
    observer: storageObserver(metrics, logger, storage.slowStatementThresholdMs),
  });
  return {
    hub: new DatabaseHub({
      ...settings,
      poolSize: secureServing.workersReadDirectly ? settings.poolSize : settings.poolSize * workers,
    }),
    families: async (page) => (await metrics.families(page)).filter(({ name }) => counted.test(name)),
  };
}
