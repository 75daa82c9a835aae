import type { DatabaseSize } from './change-log-metrics.js';
import type { Logger } from './logger.js';
import type { Metrics } from './metrics.js';
import { noteRequests } from './trace-scope.js';

interface LogSizeReport extends DatabaseSize {
  readonly historyBytes: number;
  readonly historySeconds: number;
}

interface EpochReport {
  readonly action: string;
  readonly epoch: bigint;
  readonly timeline: number | undefined;
  readonly seen: bigint;
  readonly head: bigint;
  readonly missing: bigint;
}

/** How often a connection loss with the same reason is logged, in milliseconds. */
const repeatMs = 60_000;

/** @param slowStatementMs statements that take longer are logged; 0 for none */
export function storageObserver(
  metrics: Metrics,
  logger: Logger,
  slowStatementMs = 0,
  elapsed = () => performance.now(),
) {
  if (slowStatementMs > 0) noteRequests();
  const logged = new Map<string, { readonly reason: string; readonly at: number }>();
  const unprotected = new Set<string>();
  const queue = metrics.queues.of('storage-writes');
  return {
    began: (waitsMs: readonly number[], waiting: number) => {
      queue.added(waitsMs.length);
      queue.depth(waiting);
      const ends = waitsMs.map((waitedMs) => queue.began(waitedMs));
      return () => {
        for (const end of ends) end();
      };
    },
    batch: (size: number, _refused: number, durationMs: number) => metrics.storage.committed(size, durationMs / 1000),
    query: (name: string, durationMs: number, failed: boolean, requestId?: string) => {
      if (slowStatementMs > 0 && durationMs > slowStatementMs) {
        logger.warn('slow statement', { statement: name, durationMs: Math.round(durationMs), failed, requestId });
      }
      metrics.storage.called(name, durationMs / 1000);
      if (failed) metrics.storage.failed(name);
    },
    connectionLost: (role: string, cause: unknown) => {
      const reason = reasonOf(cause);
      const last = logged.get(role);
      // Without this check, a process that retries twice a second would log the loss twice a second.
      if (last?.reason === reason && elapsed() - last.at < repeatMs) return;
      logged.set(role, { reason, at: elapsed() });
      logger.warn('no connection to the database', { role, reason });
    },
    unprotected: (problem: string) => {
      // All connections of the pool report the same problem; it is logged once.
      if (unprotected.has(problem)) return;
      unprotected.add(problem);
      logger.warn(problem);
    },
    resolved: (outcome: string) => logger.warn('outcome of a write batch after a broken connection', { outcome }),
    logRead: (changes: number, source: string) => metrics.changeLog.read(source, changes),
    replicaRead: (by: string) => metrics.changeLog.replicaRead(by),
    replicaLag: (lagMs: number) => metrics.changeLog.replicaLagIs(lagMs / 1000),
    replicaUsed: (isUsed: boolean, reason: string | undefined) => {
      metrics.changeLog.replicaIsUsed(isUsed);
      if (isUsed) logger.info('the read replica is read again');
      else logger.warn('the read replica is not read: reads go to the primary', { reason });
    },
    slowConsumer: (resource: string) => logger.warn('watch ended, it fell behind', { resource }),
    retention: (compactRevision: bigint, droppedPartitions: number, size: LogSizeReport) => {
      metrics.changeLog.sizeIs(compactRevision, size);
      metrics.changeLog.historyIs(size.historyBytes, size.historySeconds);
      if (droppedPartitions > 0) logger.info('dropped old history', { compactRevision, droppedPartitions });
    },
    epoch: (change: EpochReport) => {
      metrics.changeLog.epochIs(change.epoch, change.missing);
      const { action, missing, ...fields } = change;
      if (action === 'reset' || missing > 0n) {
        logger.error('the database lacks versions that were handed out: clients have to list again', {
          ...fields,
          missing,
        });
      } else if (action === 'resumed') {
        logger.warn('the database was promoted, restored or copied; versions continue after a gap', fields);
      } else if (action === 'joined') logger.warn('the database continues in another history', fields);
    },
    reconnecting: (role: string, error: unknown) =>
      logger.debug('connecting to the database again', { role, reason: reasonOf(error) }),
    backgroundError: (where: string, error: unknown) => {
      // The stack of a system error shows only code of the runtime.
      const isOfSystem = error instanceof Error && 'syscall' in error;
      logger.warn('background fault', { where, error: isOfSystem ? reasonOf(error) : error });
    },
  };
}

/** An error about several addresses contains the reason for each of them. */
function reasonOf(cause: unknown): string {
  if (cause === undefined) return 'the connection ended';
  if (cause instanceof AggregateError && cause.message === '') return cause.errors.map(reasonOf).join('; ');
  return cause instanceof Error ? cause.message || cause.name : String(cause);
}
