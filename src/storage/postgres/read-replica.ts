import { performance } from 'node:perf_hooks';
import { Backoff } from '../../base/machinery/backoff.js';
import { errorText } from '../../base/machinery/startup-error.js';
import { systemTimers } from '../../base/machinery/timers.js';
import type { QueryPool } from './database.js';
import { type EpochKeeper, SUSPICIOUS_LEAP } from './epoch-keeper.js';
import type { StorageObserver } from './postgres-storage-options.js';
import { readLength } from './read-length.js';
import { ReplicaLag } from './replica-lag.js';
import type { Row, Statement, StatementValue } from './session.js';
import { LOG_BOUNDS, text } from './statements.js';

/** A statement that may run on a read replica, with its values. The second column of its first row is the newest version. */
export interface ReplicaQuery {
  readonly statement: Statement;
  readonly values: readonly StatementValue[];
}

/** How often a replica that is avoided is tried again, in milliseconds. */
const probeMs = 1_000;

interface ReplicaOptions {
  readonly pool: QueryPool;
  readonly epochs: EpochKeeper;
  readonly observer: StorageObserver;
  readonly signal: AbortSignal;
  /** How long a read waits for a replica that lacks its version, in milliseconds; after that the primary is read. */
  readonly patienceMs: number;
}

/**
 * Reads from one or several read replicas of the database, which have the same log of changes up to some version.
 *
 * A replica decides nothing. Every read is for a version that the primary has committed visibly: one that the primary
 * reported to this process in an answer or in a notification. Rows of a replica count only if its newest version, in the
 * same snapshot, has reached the version asked for. So a read from a replica shows neither less nor more than the
 * primary would at that version, even if the replica has received changes that are lost in a fail-over.
 *
 * States: `used`, and `avoided` after a read that failed or waited longer than `patienceMs`, or when no read was answered
 * for that long. While the replica is avoided everything comes from the primary, also what was being read; and a probe
 * looks once a second whether the replica is up to date again.
 */
export class ReadReplica {
  private readonly options: ReplicaOptions;
  private readonly lag: ReplicaLag;
  /**
   * Newest version of a notification. Anybody may send one, so its version does not count as one that this process has
   * seen.
   */
  private notified = 0n;
  /** The newest version that a replica had in the last answer. */
  private head = 0n;
  private avoided: string | undefined;
  private probing: Promise<void> | undefined;
  private probedAt = 0;
  /** The end of each read in progress, for the time when the replica is avoided. */
  private readonly leaving = new Set<() => void>();
  private looking: Promise<Row[] | undefined> | undefined;
  private answeredAt = Number.NEGATIVE_INFINITY;

  constructor(options: ReplicaOptions) {
    this.options = options;
    this.lag = new ReplicaLag((lagMs) => options.observer.replicaLag(lagMs));
  }

  /** Whether reads should try the replica. Starts a probe of a replica that is avoided. */
  mayRead(): boolean {
    if (this.avoided === undefined) return true;
    if (this.probing === undefined && performance.now() - this.probedAt >= probeMs) {
      this.probedAt = performance.now();
      this.probing = this.probe().finally(() => {
        this.probing = undefined;
      });
    }
    return false;
  }

  /** The newest version that the primary is known to have. */
  get known(): bigint {
    const { seen } = this.options.epochs;
    return seen > this.notified ? seen : this.notified;
  }

  /** Whether a notification came from another history than that of this process: the primary has to be asked. */
  get isUncertain(): boolean {
    const { seen } = this.options.epochs;
    return seen > 0n && this.notified - seen >= SUSPICIOUS_LEAP;
  }

  /** Reports the version of a notification. */
  hear(version: bigint): void {
    if (version <= this.notified) return;
    this.notified = version;
  }

  /** Reports that the primary's newest version is `head`: a notification of a later one was wrong. */
  confirm(head: bigint): void {
    if (this.notified > head) this.notified = 0n;
  }

  /**
   * The rows of a query at a version that the primary has committed; undefined if they have to be read from the primary,
   * because the replica can't be read or does not reach the version in time.
   */
  async rowsAt(version: bigint, query: ReplicaQuery): Promise<Row[] | undefined> {
    this.lag.expect(version);
    const deadline = performance.now() + this.options.patienceMs;
    const pauses = new Backoff({ firstMs: 1, longestMs: 25 });
    while (this.mayRead()) {
      // A statement that may be long runs only on a replica that had the version in its last answer.
      const isReady = this.head >= version;
      const rows = await (isReady ? this.run(query) : this.look());
      if (rows === undefined) return undefined;
      if (this.hasReached(rows, version)) {
        if (isReady) return this.answered(rows);
        continue;
      }
      if (performance.now() >= deadline) this.avoid(`it lacks version ${version}, its newest is ${this.head}`);
      else await systemTimers.wait(pauses.next(), this.options.signal);
    }
    return undefined;
  }

  /**
   * The rows of a query of the log after a version, from a replica that has at least one later version; `upto` is the
   * version up to which they are complete. Undefined if the primary has to be read.
   */
  async rowsAfter(after: bigint, query: ReplicaQuery): Promise<{ rows: Row[]; upto: bigint } | undefined> {
    this.lag.expect(this.known);
    const deadline = performance.now() + this.options.patienceMs;
    const pauses = new Backoff({ firstMs: 1, longestMs: 25 });
    while (this.mayRead()) {
      const rows = await this.run(query);
      if (rows === undefined) return undefined;
      if (this.hasReached(rows, after + 1n)) return { rows: this.answered(rows), upto: headOf(rows) };
      if (performance.now() >= deadline) this.avoid(`it has nothing after version ${after}, the primary has`);
      else await systemTimers.wait(pauses.next(), this.options.signal);
    }
    return undefined;
  }

  /** Reports a read that the primary answers because the replica does not. */
  countPrimary(): void {
    this.options.observer.replicaRead('primary');
  }

  /** The time limit of a statement. */
  private get statementMs(): number {
    return 5 * this.options.patienceMs;
  }

  private answered(rows: Row[]): Row[] {
    this.options.observer.replicaRead('replica');
    return rows;
  }

  /**
   * Whether the answer is of the history that this process works in and has the version. A replica that has not replayed
   * the latest leap of versions may follow a server that is no longer the primary.
   */
  private hasReached(rows: Row[], version: bigint): boolean {
    const head = headOf(rows);
    this.head = head;
    this.lag.reached(head);
    return head >= version && head >= this.leastHead;
  }

  private get leastHead(): bigint {
    const { current, lost } = this.options.epochs;
    const started = current?.started ?? 0n;
    const until = lost?.until ?? 0n;
    return started > until ? started : until;
  }

  /** Reads the newest version. Reads that wait for a version share the query. */
  private look(): Promise<Row[] | undefined> {
    this.looking ??= this.run({ statement: LOG_BOUNDS, values: [] }).finally(() => {
      this.looking = undefined;
    });
    return this.looking;
  }

  /** The rows of a query; undefined as soon as the replica is avoided. */
  private run(query: ReplicaQuery): Promise<Row[] | undefined> {
    return new Promise((resolve) => {
      const began = performance.now();
      const watch = setInterval(() => this.suspect(began), this.options.patienceMs / 2).unref();
      const end = (rows: Row[] | undefined): void => {
        clearInterval(watch);
        this.leaving.delete(leave);
        resolve(rows);
      };
      const leave = (): void => end(undefined);
      this.leaving.add(leave);
      this.send(query).then(end, (error: unknown) => {
        // A failure after the replica was abandoned says nothing about its present state.
        if (this.leaving.has(leave)) this.avoid(errorText(error));
      });
    });
  }

  private async send({ statement, values }: ReplicaQuery): Promise<Row[]> {
    const rows = await this.options.pool.run(
      (session) => session.run(statement, values, this.statementMs),
      readLength(statement),
    );
    this.answeredAt = performance.now();
    return rows;
  }

  /**
   * Avoids the replica if nothing was answered since a read began, for as long as a read may wait. Some statements take
   * longer, so a short one is sent first.
   */
  private suspect(began: number): void {
    // After the process was blocked, timers run before answers are received.
    setImmediate(() => {
      if (this.answeredAt >= began || this.avoided !== undefined) return;
      const silentMs = performance.now() - began;
      if (silentMs >= this.options.patienceMs) this.avoid(`it has not answered for ${Math.round(silentMs)} ms`);
      else void this.look();
    });
  }

  private avoid(reason: string): void {
    this.head = 0n;
    this.probedAt = performance.now();
    const isNew = this.avoided === undefined;
    this.avoided ??= reason;
    for (const leave of [...this.leaving]) leave();
    if (isNew && !this.options.signal.aborted) this.options.observer.replicaUsed(false, reason);
  }

  /** Uses the replica again once it has what the primary had when the probe began. */
  private async probe(): Promise<void> {
    const version = this.options.epochs.seen;
    try {
      const rows = await this.send({ statement: LOG_BOUNDS, values: [] });
      if (!this.hasReached(rows, version)) {
        this.avoided = `it lacks version ${version}, its newest is ${this.head}`;
        return;
      }
      this.avoided = undefined;
      this.options.observer.replicaUsed(true, undefined);
    } catch (error) {
      this.avoided = errorText(error);
    }
  }
}

function headOf(rows: readonly Row[]): bigint {
  return BigInt(text(rows[0] ?? [], 1));
}
