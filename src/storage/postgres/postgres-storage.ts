import { traced } from '../../base/observability/trace-scope.js';
import { ChangeFeed } from '../feed/change-feed.js';
import { listPages, reach } from '../query-options.js';
import type {
  AgedPage,
  AgedQuery,
  ChangeSubscription,
  ListPage,
  ListQuery,
  LostVersions,
  Storage,
  StorageCreateOptions,
  StoredObject,
  TiedWriteAnswer,
  UpdateDecision,
  UpdateOptions,
  UpdateResult,
  WatchScope,
  Write,
  WriteAnswer,
} from '../storage.interface.js';
import { StorageError } from '../storage-error.js';
import type { StorageKey } from '../storage-key.js';
import type { Database, DatabaseEvents } from './database.js';
import type { Epoch } from './epoch-keeper.js';
import { Finder } from './finder.js';
import { guaranteedUpdate, missingNamespaceOrDefinition } from './guaranteed-update.js';
import { LocalDatabase } from './local-database.js';
import { PostgresChangeLog } from './postgres-change-log.js';
import { type PostgresStorageOptions, type ResolvedOptions, resolveOptions } from './postgres-storage-options.js';
import { ReadReplica } from './read-replica.js';
import { type MomentVersion, Reader, type VersionTime } from './reader.js';
import { CENSUS, DATABASE_SIZE, SERVER_KEY, text } from './statements.js';

const KEY_TIMEOUT_MS = 5_000;
/** Counting a million objects takes a tenth of a second; no request waits for the count. */
const CENSUS_TIMEOUT_MS = 30_000;
/**
 * A stop should not take longer than this. Finding out the outcome of a write whose connection broke can take longer.
 */
const STOP_PATIENCE_MS = 5_000;

/** Creates the process's {@link Database}, which reports its events to `events`. */
export type OpenDatabase = (options: ResolvedOptions, events: DatabaseEvents) => Database;

/**
 * The store over PostgreSQL. Holds no state that another process or a restart would miss. Uses one writer connection,
 * one listener and up to `poolSize` readers, of this process or of the hub.
 */
export class PostgresStorage implements Storage {
  private readonly database: Database;
  private readonly replica: ReadReplica | undefined;
  private readonly reader: Reader;
  private readonly finder: Finder;
  private readonly feed: ChangeFeed;

  /** @param open the path to the database. Default: connections of this process. */
  constructor(options: ResolvedOptions, open: OpenDatabase = (all, events) => new LocalDatabase(all, events)) {
    this.database = open(options, {
      batchEnded: (written) => this.feed.batchEnded(written),
      hint: (newest, source) => {
        if (newest !== undefined) this.replica?.hear(newest);
        this.feed.wake(newest, source);
      },
    });
    const { pool, replica, epochs, writer } = this.database;
    const { observer, signal, replicaPatienceMs: patienceMs } = options;
    this.replica = replica && new ReadReplica({ pool: replica, epochs, observer, signal, patienceMs });
    this.reader = new Reader(pool, options.poolSize, epochs, options.sealing, this.replica);
    this.finder = new Finder(pool, epochs, this.reader);
    this.feed = new ChangeFeed(new PostgresChangeLog(pool, this.reader, epochs, options.sealing, this.replica), {
      pollMs: options.notifyPollMs,
      backlogCharacters: options.watchBacklogCharacters,
      observer: options.observer,
      onPosition: (version) => writer.observe(version),
      isWriting: () => writer.isSending,
      onFollowed: (resource, isFollowed) => this.database.follow(resource, isFollowed),
    });
  }

  /** The history of the database that this process works in; undefined before the start. */
  get epoch(): Epoch | undefined {
    return this.database.epochs.current;
  }

  /**
   * Checks the database and starts the background work; throws `StorageError` or `MigrationError`. After a failure the
   * caller calls either `start` again or `stop`.
   */
  async start(): Promise<void> {
    await this.database.start();
    this.feed.start();
  }

  /**
   * Ends subscriptions, waits for writes in progress, closes every connection. After `patienceMs`, aborts calls that
   * the database has not answered.
   */
  async stop(patienceMs = STOP_PATIENCE_MS): Promise<void> {
    const late = setTimeout(() => this.giveUp(), patienceMs);
    try {
      await Promise.all([this.database.stop(), this.feed.stop()]);
      await this.database.close();
    } finally {
      clearTimeout(late);
    }
  }

  /** Closes every connection at once and opens no more: calls that wait for the database fail. */
  giveUp(): void {
    this.database.giveUp();
  }

  async create(key: StorageKey, uid: string, json: string, options: StorageCreateOptions = {}): Promise<StoredObject> {
    const answer = await this.write({
      op: 'create',
      key,
      uid,
      expected: null,
      json,
      previousJson: undefined,
      inLiveNamespace: options.inLiveNamespace,
      definedBy: options.definedBy,
    });
    if (answer.kind === 'written') return { key, uid, resourceVersion: answer.resourceVersion, json };
    if (answer.current === undefined) throw missingNamespaceOrDefinition(key, options);
    throw new StorageError('KeyExists', 'an object lives under the key already', {
      key,
      resourceVersion: answer.current.resourceVersion,
    });
  }

  async get(key: StorageKey, notOlderThan?: bigint): Promise<StoredObject | undefined> {
    return traced('storage get', { resource: key.resource }, async () => {
      if (notOlderThan !== undefined) await reach(this, notOlderThan);
      return this.reader.get(key);
    });
  }

  list(query: ListQuery): Promise<ListPage> {
    return traced('storage list', { resource: query.resource }, () =>
      listPages(
        {
          list: (plain) => this.reader.list(plain),
          find: (plain, words) => this.reader.find(plain, words),
          search: (plain, test, expected) => this.finder.search(plain, test, expected),
          head: () => this.head(),
        },
        query,
      ),
    );
  }

  /**
   * The objects of the query in pages of bounded size, all at one version, for consumers that need not hold them all.
   */
  pages(query: ListQuery): AsyncIterable<ListPage> {
    return this.reader.pages(query, query.limit);
  }

  async guaranteedUpdate(
    key: StorageKey,
    options: UpdateOptions,
    tryUpdate: (current: StoredObject | undefined) => Promise<UpdateDecision> | UpdateDecision,
  ): Promise<UpdateResult> {
    const store = {
      get: (wanted: StorageKey) => this.reader.get(wanted),
      write: (write: Write) => this.write(write),
    };
    return traced('storage update', { resource: key.resource }, () => guaranteedUpdate(store, key, options, tryUpdate));
  }

  writeTogether(writes: readonly Write[]): Promise<readonly TiedWriteAnswer[]> {
    return traced('storage batch', { writes: writes.length }, () => this.database.writer.writeTogether(writes));
  }

  /** Waits until the batch with the write has been committed. */
  private write(write: Write): Promise<WriteAnswer> {
    return traced('storage batch', { resource: write.key.resource, operation: write.op }, () =>
      this.database.writer.write(write),
    );
  }

  /**
   * Also makes the feed read what it has not read yet. So a caller that waits for this version need not wait for a
   * notification.
   */
  async head(): Promise<bigint> {
    const { head } = await this.reader.bounds();
    this.feed.wake(head, 'local');
    return head;
  }

  /** A secret that all processes on this database share, created by the migrations. */
  async serverKey(name: 'continue-token'): Promise<Uint8Array> {
    const [row] = await this.database.pool.run((session) => session.run(SERVER_KEY, [name], KEY_TIMEOUT_MS));
    if (row === undefined) throw new StorageError('Unavailable', `the server key ${name} is missing`);
    return Buffer.from(text(row, 0), 'hex');
  }

  /** Counts all objects by their resource (as keys name it), and the bytes of the database. Reads a whole index. */
  async census(): Promise<{ readonly objects: ReadonlyMap<string, number>; readonly bytes: number }> {
    return this.database.pool.run(async (session) => {
      const counted = await session.run(CENSUS, [], CENSUS_TIMEOUT_MS);
      const [size] = await session.run(DATABASE_SIZE, [], CENSUS_TIMEOUT_MS);
      return {
        objects: new Map(counted.map((row) => [text(row, 0), Number(row[1])])),
        bytes: Number(size?.[0]),
      };
    }, 'long');
  }

  /** The oldest version that can be listed at or watched from. */
  async compactRevision(): Promise<bigint> {
    return (await this.reader.bounds()).compactRevision;
  }

  /**
   * The newest version at a given moment, in one of the forms of `cluster.version_at`; or the reason why there is none.
   */
  versionAt(moment: string): Promise<MomentVersion> {
    return this.reader.versionAt(moment);
  }

  /**
   * When versions were the newest, rising: the oldest change that can be read, about `most` moments that are spread
   * evenly from the given time (default: from the oldest change), and now. Times are recorded once a minute.
   */
  versionTimes(sinceMs: number | undefined, most: number): Promise<readonly VersionTime[]> {
    return this.reader.versionTimes(sinceMs, most);
  }

  watch(scope: WatchScope, from: bigint): Promise<ChangeSubscription> {
    return this.feed.subscribe(scope, from);
  }

  async aged(query: AgedQuery): Promise<AgedPage> {
    // Log upkeep records the time about every minute. A query for younger objects needs more frequent records.
    await this.reader.noteVersionTime(Math.min(50_000, query.ageMs / 10));
    return this.reader.aged(query);
  }

  lostVersions(): LostVersions | undefined {
    return this.database.epochs.lost;
  }

  async ping(): Promise<void> {
    await Promise.all([this.reader.ping(), this.database.writer.check()]);
  }
}

/**
 * Creates and starts a store. The schema must exist already (see `migrate`). Throws a RangeError for unusable options,
 * `MigrationError` for a schema of another version, `StorageError` when the database can't be used.
 */
export async function createPostgresStorage(options: PostgresStorageOptions): Promise<PostgresStorage> {
  const storage = new PostgresStorage(resolveOptions(options));
  try {
    await storage.start();
  } catch (error) {
    await storage.stop();
    throw error;
  }
  return storage;
}
