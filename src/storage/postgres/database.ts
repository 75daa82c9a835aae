import type { TiedWriteAnswer, Write, WriteAnswer } from '../storage.interface.js';
import type { EpochKeeper } from './epoch-keeper.js';
import type { ReadLength } from './read-length.js';
import type { Row, Statement, StatementValue } from './session.js';
import type { WrittenBatch } from './written-batch.js';

/** The operations that a read may perform on a connection. They reject with the driver's error. */
export interface Queries {
  /** Runs a prepared statement; the time limit is in milliseconds. */
  run(statement: Statement, values: readonly StatementValue[], timeoutMs: number): Promise<Row[]>;
}

/** Connections for reads. */
export interface QueryPool {
  /**
   * Runs `use` on some connection. Long reads leave one of several connections to short ones: those of one user must not keep
   * everybody's gets and the change feed waiting. Default: short. Throws only `StorageError`.
   */
  run<T>(use: (session: Queries) => Promise<T>, length?: ReadLength): Promise<T>;
}

/** Writes to the database. */
export interface Writer {
  /** Whether a batch of this process is in progress. Its end is reported to {@link DatabaseEvents.batchEnded}. */
  readonly isSending: boolean;
  /** Throws `Invalid`, `Unavailable`, `UnknownOutcome` or `Closed`. */
  write(write: Write): Promise<WriteAnswer>;
  /** Like `write`, for writes that are all made or none. */
  writeTogether(writes: readonly Write[]): Promise<readonly TiedWriteAnswer[]>;
  /** Throws `Unavailable` while writes do not succeed. Writes nothing. */
  check(): Promise<void>;
  /** Reports that `version` is committed. */
  observe(version: bigint): void;
}

/** Receives events of the database. Calls are synchronous. */
export interface DatabaseEvents {
  /** A batch that was sent has finished; the argument is what it wrote, if anything. */
  batchEnded(written: WrittenBatch | undefined): void;
  /** `newest` is committed, or (undefined) some version may be. `poll`: the history was checked. */
  hint(newest: bigint | undefined, source: 'notify' | 'poll'): void;
}

/** The database operations that the store needs, run by this process or by another one. */
export interface Database {
  readonly pool: QueryPool;
  /** Connections to a read replica, if one is used. Fails soon if none can be read: the primary answers as well. */
  readonly replica: QueryPool | undefined;
  readonly epochs: EpochKeeper;
  readonly writer: Writer;
  /**
   * Declares whether {@link DatabaseEvents.batchEnded} must include the changes of the resource. Batches in progress
   * may include them or not, and record which.
   */
  follow(resource: string, isFollowed: boolean): void;
  /**
   * Checks the database and starts the background work; throws `StorageError` or `MigrationError`. After a failure the
   * caller calls either `start` again or `stop` and `close`.
   */
  start(): Promise<void>;
  /** Waits for writes in progress and ends all background work. Reads still run. */
  stop(): Promise<void>;
  /** Waits for reads in progress and closes every connection. */
  close(): Promise<void>;
  /** Closes every connection at once and opens no more: calls that wait for the database fail. */
  giveUp(): void;
}
