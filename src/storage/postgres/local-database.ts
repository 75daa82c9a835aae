import { quoteText } from '../../base/database/sql-text.js';
import { type ListenConnection, NotifyListener } from '../feed/notify-listener.js';
import type { Database, DatabaseEvents } from './database.js';
import { EpochKeeper } from './epoch-keeper.js';
import { schemaProblem } from './migrate.js';
import { failureKind } from './postgres-errors.js';
import type { ResolvedOptions } from './postgres-storage-options.js';
import { replicaProblem } from './replica-history.js';
import { Retention } from './retention.js';
import { Sequencer } from './sequencer.js';
import { type Row, type ServerLimits, Session } from './session.js';
import { SessionPool } from './session-pool.js';
import { HINT_CHANNEL, LOG_BOUNDS, text } from './statements.js';
import { WriterLockWatchdog } from './writer-lock-watchdog.js';

const NOTIFY_TIMEOUT_MS = 3_000;
/**
 * Less than {@link NOTIFY_TIMEOUT_MS}: the server must give up first, or its session keeps waiting without a client.
 */
const NOTIFY_LOCK_MS = 2_000;
const START_TIMEOUT_MS = 5_000;
/** How often a replica in use is compared with the database again. */
const replicaRecheckMs = 5_000;
/** Limits below the time limit of a heartbeat. */
const listenerLimits: ServerLimits = { lockMs: 2_000, statementMs: 2_500 };

/** The connections of this process: one for writes, one for notifications, up to `poolSize` for reads. */
export class LocalDatabase implements Database {
  readonly pool: SessionPool;
  readonly replica: SessionPool | undefined;
  readonly epochs: EpochKeeper;
  readonly writer: Sequencer;
  private readonly listener: NotifyListener;
  private readonly retention: Retention;
  private readonly givenUp = new AbortController();

  constructor(given: ResolvedOptions, events: DatabaseEvents) {
    const options = { ...given, signal: AbortSignal.any([given.signal, this.givenUp.signal]) };
    this.pool = new SessionPool(options);
    this.replica =
      options.readDatabaseUrl === undefined
        ? undefined
        : new SessionPool(options, {
            url: options.readDatabaseUrl,
            role: 'replica',
            connectTimeoutMs: Math.min(options.connectTimeoutMs, 2 * options.replicaPatienceMs),
            patienceMs: options.replicaPatienceMs / 3,
            seatMs: options.replicaPatienceMs,
            check: (session) => this.pool.run((primary) => replicaProblem(session, primary)),
            recheckMs: replicaRecheckMs,
          });
    const watchdog = new WriterLockWatchdog(
      () =>
        Session.open({
          url: options.databaseUrl,
          applicationName: `${options.applicationName} upkeep`,
          connectTimeoutMs: options.connectTimeoutMs,
          role: 'writer',
          observer: options.observer,
          signal: options.signal,
        }),
      (sessions) => {
        const error = new Error(
          `${sessions} held the lock of the writers for a client that does not react, and were ended`,
        );
        options.observer.backgroundError('sessions of the database', error);
      },
    );
    this.epochs = new EpochKeeper(options.observer, (use) => this.pool.run((session) => watchdog.watch(use(session))));
    this.writer = new Sequencer(
      options,
      this.epochs,
      watchdog,
      (written) => events.batchEnded(written),
      () => this.listener.mayHaveOthers,
    );
    this.listener = new NotifyListener(
      () =>
        Session.open({
          url: options.listenDatabaseUrl,
          applicationName: `${options.applicationName} listener`,
          connectTimeoutMs: options.connectTimeoutMs,
          role: 'listener',
          observer: options.observer,
          signal: options.signal,
          limits: listenerLimits,
        }),
      {
        onVersion: (newest) => events.hint(newest, 'notify'),
        onError: (error) => options.observer.backgroundError('listener', error),
        onRetry: (error) => {
          if (failureKind(error) === 'lost') options.observer.reconnecting('listener', error);
          else options.observer.backgroundError('listener', error);
        },
        notify: (channel, payload) =>
          this.pool.run(async (session) => {
            await session.execute('notify-probe', notification(channel, payload), NOTIFY_TIMEOUT_MS);
          }),
        channel: async (session, timeoutMs) => {
          const rows = (await session.execute(HINT_CHANNEL.name, HINT_CHANNEL.text, timeoutMs)) as readonly Row[];
          return text(rows[0] ?? [], 0);
        },
        heartbeat: (session, timeoutMs) => this.heartbeat(session, timeoutMs, events),
      },
    );
    this.retention = new Retention(options, this.pool);
  }

  async start(): Promise<void> {
    const problem = await this.pool.run((session) => schemaProblem(session));
    if (problem !== undefined) throw problem;
    await this.epochs.check();
    const [bounds] = await this.epochs.read(1, () =>
      this.pool.run((session) => session.run(LOG_BOUNDS, [], START_TIMEOUT_MS)),
    );
    this.writer.start(BigInt(text(bounds ?? [], 1)));
    this.listener.start();
    this.retention.start();
  }

  async stop(): Promise<void> {
    await Promise.all([this.retention.stop(), this.listener.stop(), this.writer.stop()]);
  }

  async close(): Promise<void> {
    await Promise.all([this.pool.stop(), this.replica?.stop()]);
  }

  follow(): void {
    // Nothing to do: batches of this process include the changes of every resource.
  }

  giveUp(): void {
    this.givenUp.abort();
  }

  /** Notices a change of the history in a process that neither writes nor reads. */
  private async heartbeat(session: ListenConnection, timeoutMs: number, events: DatabaseEvents): Promise<void> {
    if (await this.epochs.isUnchanged(session, timeoutMs)) return;
    await this.epochs.check();
    events.hint(undefined, 'poll');
  }
}

/**
 * The statement that sends a notification which may be lost in a crash: it therefore waits for no disk and no standby,
 * where it would hold up all other notifications of the server, and not for long behind a commit that does wait.
 */
function notification(channel: string, payload: string): string {
  return `select set_config('synchronous_commit', 'off', true), set_config('lock_timeout', '${NOTIFY_LOCK_MS}', true),
    pg_notify(${quoteText(channel)}, ${quoteText(payload)})`;
}
