import type { TiedWriteAnswer, Write, WriteAnswer } from '../storage.interface.js';
import type { EpochKeeper } from './epoch-keeper.js';
import type { Row, Statement, StatementValue } from './session.js';
import type { WrittenBatch } from './written-batch.js';

/** What a read may do with a connection. Rejects with the driver's error. */
export interface Queries {
  /** Runs a prepared statement; the time limit is in milliseconds. */
  run(statement: Statement, values: readonly StatementValue[], timeoutMs: number): Promise<Row[]>;
}

/** Connections for reads. */
export interface QueryPool {
  /** Runs `use` on some connection. Throws only `StorageError`. */
  run<T>(use: (session: Queries) => Promise<T>): Promise<T>;
}

/** The path of writes into the database. */
export interface Writer {
  /** Whether a batch of this process is under way. Its end is reported to {@link DatabaseEvents.batchEnded}. */
  readonly isSending: boolean;
  /** Throws `Invalid`, `Unavailable`, `UnknownOutcome` or `Closed`. */
  write(write: Write): Promise<WriteAnswer>;
  /** Like `write`, for writes that are all made or none. */
  writeTogether(writes: readonly Write[]): Promise<readonly TiedWriteAnswer[]>;
  /** Throws `Unavailable` while writes do not get through. Writes nothing. */
  check(): Promise<void>;
  /** Reports that `version` is committed. */
  observe(version: bigint): void;
}

/** Receives events of the database. Calls are synchronous. */
export interface DatabaseEvents {
  /** A batch was sent and has ended; the argument is what it wrote, if anything. */
  batchEnded(written: WrittenBatch | undefined): void;
  /** `newest` is committed, or (undefined) some version may be. `poll`: the history was checked. */
  hint(newest: bigint | undefined, source: 'notify' | 'poll'): void;
}

/** What the store needs of the database, in this process or through another one. */
export interface Database {
  readonly pool: QueryPool;
  readonly epochs: EpochKeeper;
  readonly writer: Writer;
  /**
   * Declares whether {@link DatabaseEvents.batchEnded} must bring the changes of the resource. Batches already under
   * way may bring them or not, and state which.
   */
  follow(resource: string, isFollowed: boolean): void;
  /**
   * Checks the database and starts the background work; throws `StorageError` or `MigrationError`. After a failure the
   * caller calls either `start` again or `stop` and `close`.
   */
  start(): Promise<void>;
  /** Lets writes under way finish and ends all background work. Reads still run. */
  stop(): Promise<void>;
  /** Waits for the reads under way and closes every connection. */
  close(): Promise<void>;
  /** Ends every connection at once and makes no more: calls that wait for the database fail. */
  giveUp(): void;
}
