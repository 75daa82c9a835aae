import { plainSealing, type Sealing } from '../encryption/sealing.js';

/** The size of the change log, and what the database does besides. */
export interface LogSize {
  readonly partitions: number;
  /** Size of the log in bytes, including indexes. */
  readonly bytes: number;
  /** Share of the server's notification queue in use, from 0 to 1. Commits fail when it is full. */
  readonly notificationQueue: number;
  /** Dead rows in all tables, as the server estimates them. */
  readonly deadRows: number;
  /** Position in the server's write-ahead log, in bytes: it grows by what all its databases write. */
  readonly walBytes: number;
  /** The history behind the log; bytes include indexes. */
  readonly historyPartitions: number;
  readonly historyBytes: number;
  /** Age of the oldest change in the history and the log. */
  readonly historySeconds: number;
}

/** The result of checking the history of the database. */
export interface EpochChange {
  /**
   * `same`: nothing new. `joined`: another process had already handled the change. `resumed`: the database was
   * promoted, restored or copied; versions leapt in case a process has seen later ones. `reset`: versions that were
   * assigned are lost; no earlier version can be read.
   */
  readonly action: 'same' | 'joined' | 'resumed' | 'reset';
  readonly epoch: bigint;
  readonly timeline: number | undefined;
  /** Newest version this process had seen. */
  readonly seen: bigint;
  /** The newest version now. */
  readonly head: bigint;
  /** The most versions seen by this process that may be lost: not every number is a version. */
  readonly missing: bigint;
}

/**
 * Receives measurements of storage. Calls are synchronous and on the hot path: count and return. Durations are in
 * milliseconds.
 */
export interface StorageObserver {
  /**
   * A write batch is being sent: how long each of its writes waited, and how many still wait. The returned function
   * reports its end.
   */
  began(waitsMs: readonly number[], waiting: number): () => void;
  /** One write batch was completed. `size` is the number of writes, `refused` of them failed their precondition. */
  batch(size: number, refused: number, durationMs: number): void;
  /** One statement finished. `name` is a fixed word per statement. */
  query(name: string, durationMs: number, failed: boolean, requestId: string | undefined): void;
  /** A connection was lost or could not be established. `reason` is undefined when the other side simply closed it. */
  connectionLost(role: 'writer' | 'reader' | 'listener' | 'replica', reason: unknown): void;
  /**
   * A connection was opened that an attacker on the network may read or take over; `problem` describes how, and what to
   * do.
   */
  unprotected(problem: string): void;
  /** The outcome of a batch whose connection broke was found out, or is still unknown at the deadline. */
  resolved(outcome: 'written' | 'not-written' | 'unknown'): void;
  /** The change log was read: how many changes, and what started the read. */
  logRead(changes: number, source: 'notify' | 'poll' | 'local'): void;
  /** A read that a read replica may answer was answered by it, or by the primary in its place. */
  replicaRead(by: 'replica' | 'primary'): void;
  /** How long the read replica has lacked the oldest of the versions that it lacks; 0 if it lacks none. */
  replicaLag(lagMs: number): void;
  /** Reads come from the read replica again, or no longer, for a reason. */
  replicaUsed(isUsed: boolean, reason: string | undefined): void;
  /** A subscription was ended because it fell behind. */
  slowConsumer(resource: string): void;
  /** A maintenance round ended; `compactRevision` is the oldest version that can be read. */
  retention(compactRevision: bigint, droppedPartitions: number, size: LogSize): void;
  /** The history of the database was checked. */
  epoch(change: EpochChange): void;
  /** A connection that was lost, which `connectionLost` has reported, is about to be made anew. */
  reconnecting(role: string, error: unknown): void;
  /** Something failed that has no caller to report the error to. */
  backgroundError(where: string, error: unknown): void;
}

/** An observer that ignores everything; spread it to implement only some calls. */
export const silentObserver: StorageObserver = {
  began: () => () => {},
  batch: () => {},
  query: () => {},
  connectionLost: () => {},
  unprotected: () => {},
  resolved: () => {},
  logRead: () => {},
  replicaRead: () => {},
  replicaLag: () => {},
  replicaUsed: () => {},
  slowConsumer: () => {},
  retention: () => {},
  epoch: () => {},
  reconnecting: () => {},
  backgroundError: () => {},
};

/** How to reach the database and how long to keep trying. All durations are in milliseconds. */
export interface PostgresStorageOptions {
  /**
   * Connection URL, of one or several hosts; may point to a transaction pooler. Parameters have the same meaning as in
   * libpq.
   */
  readonly databaseUrl: string;
  /** Direct connection for LISTEN and partition upkeep when `databaseUrl` is a transaction pooler. */
  readonly listenDatabaseUrl?: string | undefined;
  /** Connection URL of one or several read replicas, for what needs no primary. Default: everything is read there. */
  readonly readDatabaseUrl?: string | undefined;
  /** How long a read waits for a read replica before the primary is read. Default 1,000. */
  readonly replicaPatienceMs?: number | undefined;
  /** Number of reader connections, in addition to one writer and one listener connection. Default 3. */
  readonly poolSize?: number | undefined;
  /** How long old versions stay readable. The default, 5 minutes, is also the minimum. */
  readonly watchHistoryMs?: number | undefined;
  /** How long the history behind the log is kept. Default 0: no history. */
  readonly historyRetentionMs?: number | undefined;
  /** The most disk for the history, in bytes. Default 0: no limit. */
  readonly historyMaxBytes?: number | undefined;
  /** Resources of stored objects that are left out of the history. */
  readonly historyExclude?: readonly string[] | undefined;
  /** How often the log is read when there is no notification. Default 500. */
  readonly notifyPollMs?: number | undefined;
  /** The largest backlog of all watches together, in UTF-16 units of JSON. Default 128 Mi. */
  readonly watchBacklogCharacters?: number | undefined;
  /** How long a call waits for a database that is down before it fails with `Unavailable`. Default 5,000. */
  readonly writeWaitMs?: number | undefined;
  /** How long to look for the outcome of a batch whose connection broke. Default 10,000. */
  readonly resolveDeadlineMs?: number | undefined;
  /** Time limit of one connection attempt. Default 5,000. */
  readonly connectTimeoutMs?: number | undefined;
  /** How often this process offers to do log upkeep. Default 10,000; 0 leaves it to other processes. */
  readonly retentionIntervalMs?: number | undefined;
  /** Shown in pg_stat_activity. Default `plinth`. */
  readonly applicationName?: string | undefined;
  readonly observer?: StorageObserver | undefined;
  /** How texts are stored in the database. Default: as plain text. */
  readonly sealing?: Sealing | undefined;
  /** When aborted, closes every connection at once. */
  readonly signal?: AbortSignal | undefined;
}

/** `PostgresStorageOptions` with every default filled in. */
export type ResolvedOptions = Required<{
  [K in keyof Omit<PostgresStorageOptions, 'readDatabaseUrl'>]: NonNullable<PostgresStorageOptions[K]>;
}> &
  Pick<PostgresStorageOptions, 'readDatabaseUrl'>;

const MIN_HISTORY_MS = 5 * 60_000;

/** Fills in defaults; throws a RangeError that names every unusable value. */
export function resolveOptions(options: PostgresStorageOptions): ResolvedOptions {
  const resolved: ResolvedOptions = {
    databaseUrl: options.databaseUrl,
    listenDatabaseUrl: options.listenDatabaseUrl ?? options.databaseUrl,
    readDatabaseUrl: options.readDatabaseUrl,
    replicaPatienceMs: options.replicaPatienceMs ?? 1_000,
    poolSize: options.poolSize ?? 3,
    watchHistoryMs: options.watchHistoryMs ?? MIN_HISTORY_MS,
    historyRetentionMs: options.historyRetentionMs ?? 0,
    historyMaxBytes: options.historyMaxBytes ?? 0,
    historyExclude: options.historyExclude ?? [],
    notifyPollMs: options.notifyPollMs ?? 500,
    watchBacklogCharacters: options.watchBacklogCharacters ?? 128 * 1024 * 1024,
    writeWaitMs: options.writeWaitMs ?? 5_000,
    resolveDeadlineMs: options.resolveDeadlineMs ?? 10_000,
    connectTimeoutMs: options.connectTimeoutMs ?? 5_000,
    retentionIntervalMs: options.retentionIntervalMs ?? 10_000,
    applicationName: options.applicationName ?? 'plinth',
    observer: options.observer ?? silentObserver,
    sealing: options.sealing ?? plainSealing,
    signal: options.signal ?? new AbortController().signal,
  };
  const errors: string[] = [];
  const atLeast = (name: keyof PostgresStorageOptions, value: number, least: number): void => {
    if (!Number.isFinite(value) || value < least) errors.push(`${name} must be at least ${least}, not ${value}`);
  };
  if (resolved.databaseUrl === '') errors.push('databaseUrl must not be empty');
  atLeast('replicaPatienceMs', resolved.replicaPatienceMs, 1);
  atLeast('poolSize', resolved.poolSize, 1);
  atLeast('watchHistoryMs', resolved.watchHistoryMs, MIN_HISTORY_MS);
  atLeast('historyRetentionMs', resolved.historyRetentionMs, 0);
  atLeast('historyMaxBytes', resolved.historyMaxBytes, 0);
  atLeast('notifyPollMs', resolved.notifyPollMs, 10);
  atLeast('watchBacklogCharacters', resolved.watchBacklogCharacters, 1);
  atLeast('writeWaitMs', resolved.writeWaitMs, 1);
  atLeast('resolveDeadlineMs', resolved.resolveDeadlineMs, 1);
  atLeast('connectTimeoutMs', resolved.connectTimeoutMs, 1);
  atLeast('retentionIntervalMs', resolved.retentionIntervalMs, 0);
  if (errors.length > 0) throw new RangeError(`storage options: ${errors.join('; ')}`);
  return resolved;
}
