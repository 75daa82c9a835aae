import { untilAborted } from '../wait.js';
import { sqlState } from './postgres-errors.js';
import type { ResolvedOptions } from './postgres-storage-options.js';
import { Session } from './session.js';
import type { SessionPool } from './session-pool.js';
import { KEEP_CHANGES, LOG_BOUNDS, LOG_SIZE, text } from './statements.js';

const PARTITIONS_AHEAD = 3;
const ROUND_TIMEOUT_MS = 30_000;
/** A reader that holds the log open for longer delays the drop until a later round. */
const DROP_TIMEOUT_MS = 60_000;
/**
 * Behind a pooler a waiting statement can't be given up, so the partition goes at once or in a later round. This is the
 * longest time that new readers and writers of the log wait behind it.
 */
const POOLED_LOCK_TIMEOUT_MS = 200;
const LEAST_CLOSE_AFTER_MS = 30_000;

/**
 * Log upkeep: adds partitions, closes them, raises the compact revision, drops old partitions. Every process runs it;
 * the database lets one work at a time. The compact revision is raised and committed before a partition goes.
 */
export class Retention {
  private readonly options: ResolvedOptions;
  private readonly pool: SessionPool;
  private readonly random: () => number;
  private readonly stopping = new AbortController();
  private loop: Promise<void> | undefined;

  /** `random` returns numbers from 0 to below 1. */
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
    while (!signal.aborted) {
      // Spread over the interval, so that processes that started together don't call together.
      await untilAborted(this.options.retentionIntervalMs * (0.5 + this.random()), signal);
      if (signal.aborted) return;
      try {
        const history = this.options.watchHistoryMs;
        await this.round(history, Math.max(LEAST_CLOSE_AFTER_MS, history / 10));
      } catch (error) {
        if (!signal.aborted) this.options.observer.backgroundError('log upkeep', error);
      }
    }
  }

  /** One round; returns how many partitions were dropped. Durations in milliseconds. */
  async round(historyMs: number, closeAfterMs: number): Promise<number> {
    const [droppable, compactRevision, size] = await this.pool.run(async (session) => {
      const rows = await session.run(KEEP_CHANGES, [historyMs, closeAfterMs, PARTITIONS_AHEAD], ROUND_TIMEOUT_MS);
      const [bounds] = await session.run(LOG_BOUNDS, [], ROUND_TIMEOUT_MS);
      const [size] = await session.run(LOG_SIZE, [], ROUND_TIMEOUT_MS);
      return [
        rows.map((row) => text(row, 0)),
        bounds === undefined ? 0n : BigInt(text(bounds, 0)),
        { partitions: Number(size?.[0]), bytes: Number(size?.[1]), notificationQueue: Number(size?.[2]) },
      ] as const;
    });
    const dropped = droppable.length === 0 ? 0 : await this.drop(droppable);
    this.options.observer.retention(compactRevision, dropped, size);
    return dropped;
  }

  /** Uses a connection of its own: detaching can't run in a transaction, and may have to wait long for a reader. */
  private async drop(droppable: readonly string[]): Promise<number> {
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
      // Behind a pooler the setting would stay on a connection that serves others.
      if (!session.pooled) {
        await session.execute('statement-timeout', `set statement_timeout = ${DROP_TIMEOUT_MS}`, ROUND_TIMEOUT_MS);
      }
      let dropped = 0;
      for (const lower of droppable) {
        if (!(await dropPartition(session, BigInt(lower)))) break;
        dropped += 1;
      }
      return dropped;
    } finally {
      this.stopping.signal.removeEventListener('abort', abort);
      await session.close();
    }
  }
}

/**
 * Detaches and drops one partition; false when it has to wait for a later round. Unlike dropping a partition in place,
 * detaching concurrently never makes readers or writers of the log wait.
 */
async function dropPartition(session: Session, lower: bigint): Promise<boolean> {
  const table = `plinth.changes_${lower}`;
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
        await session.execute('detach', `alter table plinth.changes detach partition ${table} finalize`, limit);
      } else if (state[1] === 't' && session.pooled) {
        await session.execute(
          'detach',
          `begin; set local lock_timeout = ${POOLED_LOCK_TIMEOUT_MS}; alter table plinth.changes detach partition ${table}; commit`,
          limit,
        );
      } else if (state[1] === 't') {
        await session.execute('detach', `alter table plinth.changes detach partition ${table} concurrently`, limit);
      }
      await session.execute('drop', `drop table if exists ${table}`, limit);
    }
    await session.execute('forget', `delete from plinth.change_partitions where lower = ${lower}`, limit);
    return true;
  } catch (error) {
    // A wait for a reader timed out, or another process is dropping it.
    const code = sqlState(error);
    if (session.pooled) await session.execute('rollback', 'rollback', limit);
    if (code === '57014' || code === '55P03' || code === '55000' || code === '42P01' || code === '40P01') return false;
    throw error;
  }
}
