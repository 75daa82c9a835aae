import type { Logger } from './logger.js';
import type { Metrics } from './metrics.js';

/** Turns what storage reports about itself into metrics and log lines. */
export function storageObserver(metrics: Metrics, logger: Logger) {
  return {
    batch: (size: number, _refused: number, durationMs: number) => metrics.storageBatch(size, durationMs / 1000),
    query: (name: string, durationMs: number, failed: boolean) => {
      metrics.storageCall(name, durationMs / 1000);
      if (failed) metrics.storageFailed(name);
    },
    connectionLost: (role: string) => logger.warn('database connection lost', { role }),
    resolved: (outcome: string) => logger.warn('fate of a write batch after a broken connection', { outcome }),
    logRead: (changes: number, source: string) => metrics.feedRead(source, changes),
    slowConsumer: (resource: string) => logger.warn('watch ended, it fell behind', { resource }),
    retention: (floor: bigint, droppedPartitions: number) => {
      if (droppedPartitions > 0) logger.info('dropped old history', { floor, droppedPartitions });
    },
    backgroundError: (where: string, error: unknown) => logger.warn('background fault', { where, error }),
  };
}
