import { sqlState } from '../../base/database/sql-state.js';
import { systemTimers } from '../../base/machinery/timers.js';
import type { ResolvedOptions } from './postgres-storage-options.js';
import { Session } from './session.js';
import type { SessionPool } from './session-pool.js';
import { BOUND_HISTORY, HISTORY_SIZE, KEEP_CHANGES, KEEP_HISTORY, LOG_BOUNDS, LOG_SIZE, text } from './statements.js';

const PARTITIONS_AHEAD = 3;
const FIRST_ROUND_MS = 1_000;
const ROUND_TIMEOUT_MS = 30_000;
/** If a reader holds the log open for longer than this, the drop is postponed to a later round. */
const DROP_TIMEOUT_MS = 60_000;
/**
 * The longest time that new readers and writers of the log wait behind a drop. Behind a pooler a waiting statement
 * can't be cancelled, so the partition is dropped at once or in a later round.
 */
const POOLED_LOCK_TIMEOUT_MS = 200;
const LEAST_CLOSE_AFTER_MS = 30_000;
/**
 * The number of partitions into which the watch history is divided. Longer partitions would save space: within a
 * partition the state before a change is not stored again.
 */
const PARTITIONS_PER_HISTORY = 5;
/** Each partition of the log becomes one of the history, whose partitions should be neither many nor too large. */
const MOST_HISTORY_PARTITIONS = 50;
const MOST_CLOSE_AFTER_MS = 24 * 3_600_000;
/** A partition to copy has at most a million changes. */
const COPY_TIMEOUT_MS = 1_800_000;

/**
 * Log upkeep: adds partitions, closes them, raises the compact revision, drops old partitions. Every process runs it;
 * the database admits one at a time. The compact revision is raised and committed before a partition is dropped.
 *
 * While the history is kept, the process that drops a partition first copies it to the history, whatever its own
 * options are. The history is dropped in the same way as the log: its floor is raised first.
 */
export class Retention {
  private readonly options: ResolvedOptions;
  private readonly pool: SessionPool;
  private readonly random: () => number;
  private readonly stopping = new AbortController();
  private loop: Promise<void> | undefined;

  /** @param random returns numbers from 0 to below 1 */
  constructor(options: ResolvedOptions, pool: SessionPool, random: () => number = Math.random) {
    this.options = options;
    this.pool = pool;
    this.random = random;
  }

  start(): void {
    if (this.options.retentionIntervalMs > 0) this.loop = this.run();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.loop;
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    // The history begins with the first round.
    if (this.options.historyRetentionMs > 0) await systemTimers.wait(FIRST_ROUND_MS * this.random(), signal);
    else await this.pause();
    while (!signal.aborted) {
      try {
        const history = this.options.watchHistoryMs;
        await this.round(history, closeAfterMs(history, this.options.historyRetentionMs));
      } catch (error) {
        if (!signal.aborted) this.options.observer.backgroundError('log upkeep', error);
      }
      await this.pause();
    }
  }

  /** A random pause around the interval, so that processes that started together don't run rounds together. */
  private pause(): Promise<void> {
    return systemTimers.wait(this.options.retentionIntervalMs * (0.5 + this.random()), this.stopping.signal);
  }

  /** One round; returns how many partitions of the log were dropped. Durations in milliseconds. */
  async round(historyMs: number, closeAfterMs: number): Promise<number> {
    const { historyRetentionMs, historyMaxBytes, historyExclude } = this.options;
    const [droppable, expired, compactRevision, size] = await this.pool.run(async (session) => {
      if (historyRetentionMs > 0 && historyMaxBytes > 0) {
        await session.run(BOUND_HISTORY, [historyMaxBytes], ROUND_TIMEOUT_MS);
      }
      // Comes before the changes, so that a partition dropped in this round is known to need a copy.
      const past = await session.run(KEEP_HISTORY, [historyRetentionMs, historyExclude], ROUND_TIMEOUT_MS);
      const rows = await session.run(KEEP_CHANGES, [historyMs, closeAfterMs, PARTITIONS_AHEAD], ROUND_TIMEOUT_MS);
      const [bounds] = await session.run(LOG_BOUNDS, [], ROUND_TIMEOUT_MS);
      const [size] = await session.run(LOG_SIZE, [], ROUND_TIMEOUT_MS);
      const [history] = await session.run(HISTORY_SIZE, [], ROUND_TIMEOUT_MS);
      return [
        rows.map((row) => BigInt(text(row, 0))),
        past.map((row) => BigInt(text(row, 0))),
        bounds === undefined ? 0n : BigInt(text(bounds, 0)),
        {
          partitions: Number(size?.[0]),
          bytes: Number(size?.[1]),
          notificationQueue: Number(size?.[2]),
          deadRows: Number(size?.[3]),
          walBytes: Number(size?.[4]),
          historyPartitions: Number(history?.[0]),
          historyBytes: Number(history?.[1]),
          historySeconds: Number(history?.[2]),
        },
      ] as const;
    });
    const dropped = droppable.length + expired.length === 0 ? 0 : await this.drop(droppable, expired);
    this.options.observer.retention(compactRevision, dropped, size);
    return dropped;
  }

  /** Uses a connection of its own: detaching can't run in a transaction, and may wait long for a reader. */
  private async drop(droppable: readonly bigint[], expired: readonly bigint[]): Promise<number> {
    const session = await Session.open({
      url: this.options.listenDatabaseUrl,
      applicationName: `${this.options.applicationName} upkeep`,
      connectTimeoutMs: this.options.connectTimeoutMs,
      role: 'reader',
      observer: this.options.observer,
      signal: this.options.signal,
    });
    const abort = (): void => session.destroy();
    this.stopping.signal.addEventListener('abort', abort);
    if (this.stopping.signal.aborted) abort();
    try {
      let dropped = 0;
      for (const lower of droppable) {
        if (!(await copyToHistory(session, lower)) || !(await dropPartition(session, 'changes', lower))) break;
        dropped += 1;
      }
      for (const lower of expired) if (!(await dropPartition(session, 'history', lower))) break;
      return dropped;
    } finally {
      this.stopping.signal.removeEventListener('abort', abort);
      await session.close();
    }
  }
}

/**
 * How long a partition of the log stays open, in milliseconds. Watches can go back a fifth further than guaranteed, and
 * further still where the history would otherwise consist of many small partitions.
 */
function closeAfterMs(watchHistoryMs: number, historyRetentionMs: number): number {
  const forHistory = Math.min(historyRetentionMs / MOST_HISTORY_PARTITIONS, MOST_CLOSE_AFTER_MS);
  return Math.max(LEAST_CLOSE_AFTER_MS, watchHistoryMs / PARTITIONS_PER_HISTORY, forHistory);
}

/**
 * Copies the partition if a history is kept. Returns whether the partition may be dropped: it was copied, or no history
 * is kept.
 */
async function copyToHistory(session: Session, lower: bigint): Promise<boolean> {
  await limitStatements(session, COPY_TIMEOUT_MS);
  const sql = `select plinth.copy_to_history(${lower})`;
  const [row] = await session.execute('copy-to-history', sql, COPY_TIMEOUT_MS + 5_000);
  return row?.[0] === 't';
}

async function limitStatements(session: Session, limitMs: number): Promise<void> {
  // Behind a pooler the setting would stay on a connection that serves others.
  if (session.pooled) return;
  await session.execute('statement-timeout', `set statement_timeout = ${limitMs}`, ROUND_TIMEOUT_MS);
}

/**
 * Detaches and drops one partition; false when that must wait for a later round. Unlike dropping a partition in place,
 * detaching concurrently never makes readers or writers of the log wait.
 */
async function dropPartition(session: Session, parent: 'changes' | 'history', lower: bigint): Promise<boolean> {
  const table = `plinth.${parent}_${lower}`;
  const register = parent === 'changes' ? 'plinth.change_partitions' : 'plinth.history_partitions';
  await limitStatements(session, DROP_TIMEOUT_MS);
  const limit = DROP_TIMEOUT_MS + 5_000;
  const [state] = await session.execute(
    'partition-state',
    `select c.oid is not null, i.inhrelid is not null, coalesce(i.inhdetachpending, false)
     from (select to_regclass('${table}') as oid) c left join pg_inherits i on i.inhrelid = c.oid`,
    limit,
  );
  try {
    if (state?.[0] === 't') {
      if (state[2] === 't') {
        await session.execute('detach', `alter table plinth.${parent} detach partition ${table} finalize`, limit);
      } else if (state[1] === 't' && session.pooled) {
        await session.execute(
          'detach',
          `begin; set local lock_timeout = ${POOLED_LOCK_TIMEOUT_MS}; alter table plinth.${parent} detach partition ${table}; commit`,
          limit,
        );
      } else if (state[1] === 't') {
        await session.execute('detach', `alter table plinth.${parent} detach partition ${table} concurrently`, limit);
      }
      await session.execute('drop', `drop table if exists ${table}`, limit);
    }
    await session.execute('forget', `delete from ${register} where lower = ${lower}`, limit);
    return true;
  } catch (error) {
    // The wait for a reader timed out, or another process is dropping the partition.
    const code = sqlState(error);
    if (session.pooled) await session.execute('rollback', 'rollback', limit);
    if (code === '57014' || code === '55P03' || code === '55000' || code === '42P01' || code === '40P01') return false;
    throw error;
  }
}
