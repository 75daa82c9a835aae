import { performance } from 'node:perf_hooks';
import { Backoff } from '../../base/machinery/backoff.js';
import { systemTimers } from '../../base/machinery/timers.js';
import { StorageError } from '../storage-error.js';
import type { QueryPool } from './database.js';
import { failureKind, unavailable } from './postgres-errors.js';
import type { ResolvedOptions } from './postgres-storage-options.js';
import type { ReadLength } from './read-length.js';
import { type ReplicaProblem, replicaProblems } from './replica-history.js';
import { type ServerLimits, Session, type SessionOptions } from './session.js';

/** `lockMs` must be less than the shortest time limit of a read, `statementMs` more than the longest. */
const limits: ServerLimits = { lockMs: 4_000, statementMs: 35_000 };

/** Where a pool connects, if not to the database of `databaseUrl`. */
export interface PoolTarget extends Pick<SessionOptions, 'url' | 'role' | 'connectTimeoutMs'> {
  /** How long a read is retried, in milliseconds. */
  readonly patienceMs: number;
  /** How long a read waits for a connection that others use, in milliseconds. */
  readonly seatMs: number;
  /** Why the server must not be used, if there is a reason. Rejects if that can't be found out. */
  readonly check: (session: Session) => Promise<ReplicaProblem | undefined>;
  /** How often a server in use is checked again, in milliseconds; meanwhile it stays in use. */
  readonly recheckMs: number;
}

interface Waiter {
  readonly length: ReadLength;
  readonly go: () => void;
}

/**
 * The reader connections: at most poolSize, opened on first use and kept. Long reads use all but one of several. A read is retried when its connection breaks
 * or the database is not up yet, for at most writeWaitMs.
 */
export class SessionPool implements QueryPool {
  private readonly options: ResolvedOptions;
  private readonly stopping = new AbortController();
  private readonly idle: Session[] = [];
  private readonly all = new Set<Session>();
  /** Reads in the order of their calls. */
  private readonly waiting = new Set<Waiter>();
  private inUse = 0;
  private longInUse = 0;
  private checkedAt = 0;

  constructor(
    options: ResolvedOptions,
    private readonly target?: PoolTarget,
  ) {
    this.options = options;
  }

  /** Runs `use` on a connection of its own. Throws only `StorageError`. */
  async run<T>(use: (session: Session) => Promise<T>, length: ReadLength = 'short'): Promise<T> {
    const deadline = performance.now() + (this.target?.patienceMs ?? this.options.writeWaitMs);
    const backoff = new Backoff({ firstMs: 20, longestMs: 500 }, Math.random);
    for (;;) {
      if (this.stopping.signal.aborted || this.options.signal.aborted) {
        throw new StorageError('Closed', 'storage is shutting down');
      }
      try {
        return await this.once(use, length);
      } catch (error) {
        if (error instanceof StorageError) throw error;
        if (this.options.signal.aborted) throw new StorageError('Closed', 'storage is shutting down', { cause: error });
        const kind = failureKind(error);
        if (kind === 'fatal' || kind === 'data' || kind === 'partition') throw unavailable(error, 'the read failed');
        const pause = backoff.next();
        if (performance.now() + pause >= deadline) throw unavailable(error, 'the database does not answer');
        await systemTimers.wait(pause, this.stopping.signal);
      }
    }
  }

  /** Waits for reads in progress and closes all connections. */
  async stop(): Promise<void> {
    this.stopping.abort();
    for (const { go } of [...this.waiting]) go();
    await Promise.all([...this.all].map((session) => session.close()));
  }

  private async once<T>(use: (session: Session) => Promise<T>, length: ReadLength): Promise<T> {
    await this.slot(length);
    let session: Session | undefined;
    try {
      session = await this.session();
      return await use(session);
    } catch (error) {
      const kind = error instanceof StorageError ? undefined : failureKind(error);
      if (kind === 'lost' || kind === 'reconnect') session?.destroy();
      throw error;
    } finally {
      if (session !== undefined && !session.broken) this.idle.push(session);
      this.inUse -= 1;
      if (length === 'long') this.longInUse -= 1;
      for (const waiter of this.waiting) {
        if (!this.isFree(waiter.length)) continue;
        waiter.go();
        break;
      }
    }
  }

  private isFree(length: ReadLength): boolean {
    const { poolSize } = this.options;
    if (length === 'long' && this.longInUse >= Math.max(1, poolSize - 1)) return false;
    return this.inUse < poolSize;
  }

  private async slot(length: ReadLength): Promise<void> {
    const deadline = performance.now() + (this.target?.seatMs ?? Number.POSITIVE_INFINITY);
    while (!this.isFree(length)) {
      if (this.stopping.signal.aborted) throw new StorageError('Closed', 'storage is shutting down');
      const left = deadline - performance.now();
      if (left <= 0) throw new StorageError('Unavailable', 'no connection became free in time');
      await this.freed(left, length);
    }
    this.inUse += 1;
    if (length === 'long') this.longInUse += 1;
  }

  /** Resolves when a connection becomes free, or after `ms` milliseconds if that is finite. */
  private freed(ms: number, length: ReadLength): Promise<void> {
    return new Promise((resolve) => {
      const go = (): void => {
        clearTimeout(timer);
        this.waiting.delete(waiter);
        resolve();
      };
      const waiter: Waiter = { length, go };
      const timer = Number.isFinite(ms) ? setTimeout(go, ms) : undefined;
      this.waiting.add(waiter);
    });
  }

  private async session(): Promise<Session> {
    for (let session = this.idle.pop(); session !== undefined; session = this.idle.pop()) {
      if (session.broken) continue;
      if (this.target !== undefined) this.checkAgain(session, this.target);
      return session;
    }
    const session = await Session.open({
      url: this.options.databaseUrl,
      applicationName: this.options.applicationName,
      connectTimeoutMs: this.options.connectTimeoutMs,
      role: 'reader',
      observer: this.options.observer,
      signal: this.options.signal,
      limits,
      ...this.target,
    });
    try {
      const problem = await this.target?.check(session);
      if (problem !== undefined) throw new StorageError('Unavailable', replicaProblems[problem]);
    } catch (error) {
      await session.close();
      throw error;
    }
    this.checkedAt = performance.now();
    this.all.add(session);
    session.onBroken(() => this.all.delete(session));
    if (this.stopping.signal.aborted) {
      await session.close();
      throw new StorageError('Closed', 'storage is shutting down');
    }
    return session;
  }

  /** Checks the server beside the statements of the session. If it must not be used any more, all connections are closed. */
  private checkAgain(session: Session, { check, recheckMs }: PoolTarget): void {
    if (performance.now() - this.checkedAt < recheckMs) return;
    this.checkedAt = performance.now();
    check(session).then(
      (problem) => {
        if (problem !== undefined) for (const one of [...this.all]) one.destroy();
      },
      // It fails while the other side does not answer, and is repeated.
      () => undefined,
    );
  }
}
