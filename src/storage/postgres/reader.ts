import { inTurns, mappedInSteps } from '../../base/machinery/turns.js';
import { isSealed, plainSealing, type Sealing } from '../encryption/sealing.js';
import { firstPageSize, nextPageSize } from '../page-size.js';
import type {
  AgedPage,
  AgedQuery,
  ListPage,
  ListPosition,
  ListQuery,
  ListScope,
  StoredObject,
} from '../storage.interface.js';
import { StorageError } from '../storage-error.js';
import type { StorageKey } from '../storage-key.js';
import type { QueryPool } from './database.js';
import type { EpochKeeper } from './epoch-keeper.js';
import { isStorableKey, type KeyRange, keyRange, keyString, searchable } from './keys.js';
import { failureKind } from './postgres-errors.js';
import type { ReadReplica } from './read-replica.js';
import type { Row, Statement } from './session.js';
import { SharedReads } from './shared-reads.js';
import {
  AGED_OBJECTS,
  COUNT_FEW_OBJECTS,
  COUNT_OBJECTS,
  FIND_PAGE,
  GET_OBJECTS,
  LIST_PAGE,
  LIST_PAGE_WITHIN,
  LOG_BOUNDS,
  NOTE_VERSION_TIME,
  OBJECTS_AT,
  PAST_PAGE,
  storedObject,
  text,
  VERSION_AT,
  VERSION_TIMES,
} from './statements.js';

export interface LogBounds {
  /** The oldest version that can be listed at or watched from. */
  readonly compactRevision: bigint;
  /** The newest committed version. */
  readonly head: bigint;
}

/** A version in the past, with the bounds of what can be read; or the reason why there is none. */
export type MomentVersion =
  | { readonly version: bigint; readonly oldest: bigint; readonly newest: bigint }
  | { readonly problem: string };

/** A version and when it was the newest, in milliseconds since 1970. */
export interface VersionTime {
  readonly timeMs: number;
  readonly version: bigint;
}

const POINT_READ_TIMEOUT_MS = 5_000;
const LIST_TIMEOUT_MS = 30_000;
const MOST_COUNTS = 1_000;
/** Up to this many objects are counted in milliseconds, whatever the state of the table. */
const MOST_COUNTED_AT_ONCE = 10_000;

/** Every read of objects. Throws only `StorageError`. */
export class Reader {
  private readonly pool: QueryPool;
  private readonly epochs: EpochKeeper;
  private readonly sealing: Sealing;
  private readonly replica: ReadReplica | undefined;
  private readonly gets: SharedReads<StorageKey, StoredObject | StorageError | undefined>;
  private readonly boundReads: SharedReads<null, LogBounds>;
  /** Cached numbers of objects after a position at a version, for the next pages of a list. */
  private readonly counts = new Map<string, number>();
  private isCounting = false;

  /** @param replica where pages of lists are read as far as possible; default: nowhere but in the database */
  constructor(
    pool: QueryPool,
    poolSize: number,
    epochs: EpochKeeper,
    sealing: Sealing = plainSealing,
    replica?: ReadReplica,
  ) {
    this.pool = pool;
    this.epochs = epochs;
    this.sealing = sealing;
    this.replica = replica;
    const rounds = Math.max(1, poolSize - 1);
    this.gets = new SharedReads((keys) => this.loadObjects(keys), keyString, rounds);
    this.boundReads = new SharedReads(
      async () => [await this.loadBounds()],
      () => '',
      1,
    );
  }

  async get(key: StorageKey): Promise<StoredObject | undefined> {
    if (!isStorableKey(key)) return undefined;
    const found = await this.gets.get(key);
    if (found instanceof StorageError) throw found;
    return found;
  }

  /** Both ends of the log, read after the call; concurrent calls share a read. */
  bounds(): Promise<LogBounds> {
    return this.boundReads.get(null);
  }

  /**
   * One page. Without a limit everything is read, in several statements at one version, so neither the server nor the
   * driver holds the whole list at once.
   */
  async list(query: ListQuery): Promise<ListPage> {
    const items: StoredObject[] = [];
    let last: ListPage | undefined;
    for await (const page of this.pages(query, query.limit)) {
      for (const item of page.items) items.push(item);
      last = page;
      // The page is as large as it may be.
      if (query.pageBytes !== undefined) break;
    }
    if (last === undefined) throw new StorageError('Unavailable', 'the database did not answer');
    const { resourceVersion, more } = last;
    const { countRemaining = false } = query;
    const remaining = countRemaining === false ? undefined : await this.remaining(query, items, resourceVersion, more);
    return { resourceVersion, items, more, remaining };
  }

  /** See `PageSource.find`: only the log is searched, not the history. */
  async find(
    { at, after, limit, ...scope }: ListQuery & { readonly limit: number },
    words: readonly string[],
  ): Promise<ListPage | undefined> {
    const values = [...rangeValues(keyRange(scope, after)), at?.toString() ?? null, limit, words];
    const [bounds, ...rows] = await this.epochs.read(1, () =>
      this.pool.run((session) => session.run(FIND_PAGE, values, LIST_TIMEOUT_MS), 'long'),
    );
    const found = boundsOf(bounds);
    if (at !== undefined && at < found.compactRevision) return undefined;
    if (at !== undefined) checkVersion(at, found);
    const keyOf = (row: Row) => ({ resource: scope.resource, namespace: text(row, 2), name: text(row, 3) });
    const items = await this.objects(rows, keyOf, 4);
    // A full page may have been the last one; the next page is then empty.
    const more = Number(rows.at(-1)?.[7] ?? 0) >= limit;
    return { resourceVersion: at ?? found.head, items, more };
  }

  /** The objects with the given keys at a version; undefined when the log no longer reaches back to it. */
  async objectsAt(resource: string, keys: readonly ListPosition[], at: bigint): Promise<StoredObject[] | undefined> {
    const values = [resource, keys.map(({ namespace }) => namespace), keys.map(({ name }) => name), at.toString()];
    const [bounds, ...rows] = await this.epochs.read(1, () =>
      this.pool.run((session) => session.run(OBJECTS_AT, values, LIST_TIMEOUT_MS), 'long'),
    );
    const found = boundsOf(bounds);
    if (at < found.compactRevision) return undefined;
    checkVersion(at, found);
    return this.objects(rows, (row) => ({ resource, namespace: text(row, 2), name: text(row, 3) }), 4);
  }

  /** Whether more than `most` objects live in the scope. */
  async areMore(scope: ListScope, most: number, at: bigint): Promise<boolean> {
    const values = [...rangeValues(keyRange(scope, undefined)), at.toString(), most];
    return (await this.count(COUNT_FEW_OBJECTS, values)) === undefined;
  }

  /**
   * The objects of the query in pages of bounded size, all at one version; at least one page, at most `limit` objects
   * in total.
   */
  async *pages(query: ListQuery, limit: number | undefined): AsyncGenerator<ListPage> {
    let at = query.at;
    let after = query.after;
    let left = limit ?? Number.POSITIVE_INFINITY;
    let rows = firstPageSize;
    for (;;) {
      const wanted = Math.min(left, rows);
      const page = await this.page(query, after, at, wanted);
      left -= page.items.length;
      yield page;
      if (!page.more || left <= 0) return;
      at = page.resourceVersion;
      after = page.items.at(-1)?.key ?? after;
      rows = nextPageSize(page);
    }
  }

  /** See `Storage.aged`. */
  async aged({ resource, ageMs, after, scan }: AgedQuery): Promise<AgedPage> {
    const values = [searchable(resource), ageMs, after?.namespace ?? '', after?.name ?? '', scan];
    const rows = await this.pool.run((session) => session.run(AGED_OBJECTS, values, LIST_TIMEOUT_MS), 'long');
    const end = rows.pop();
    if (end === undefined) throw new StorageError('Unavailable', 'the database did not answer');
    const keyOf = (row: Row) => ({ resource, namespace: text(row, 1), name: text(row, 2) });
    const items = await this.objects(rows, keyOf, 3);
    return { items, next: end[0] === 't' ? undefined : { namespace: text(end, 1), name: text(end, 2) } };
  }

  /** Records when the newest version was reached, unless that was done within the last `everyMs` milliseconds. */
  async noteVersionTime(everyMs: number): Promise<void> {
    await this.pool.run((session) => session.run(NOTE_VERSION_TIME, [everyMs], POINT_READ_TIMEOUT_MS));
  }

  /** See `PostgresStorage.versionAt`. */
  async versionAt(moment: string): Promise<MomentVersion> {
    try {
      const [row] = await this.pool.run((session) => session.run(VERSION_AT, [moment], POINT_READ_TIMEOUT_MS));
      if (row === undefined) throw new StorageError('Unavailable', 'the database did not answer');
      return { version: BigInt(text(row, 0)), oldest: BigInt(text(row, 1)), newest: BigInt(text(row, 2)) };
    } catch (error) {
      const { cause } = error as { cause?: unknown };
      if (cause instanceof Error && failureKind(cause) === 'data') return { problem: cause.message };
      throw error;
    }
  }

  /** See `PostgresStorage.versionTimes`. */
  async versionTimes(sinceMs: number | undefined, most: number): Promise<readonly VersionTime[]> {
    const values = [sinceMs ?? null, most];
    const rows = await this.pool.run((session) => session.run(VERSION_TIMES, values, POINT_READ_TIMEOUT_MS));
    return rows.map((row) => ({ timeMs: Number(text(row, 0)), version: BigInt(text(row, 1)) }));
  }

  /** Checks that the database answers and is not a standby. */
  async ping(): Promise<void> {
    await this.pool.run((session) => session.run(LOG_BOUNDS, [], POINT_READ_TIMEOUT_MS));
  }

  private async loadObjects(
    keys: readonly StorageKey[],
  ): Promise<readonly (StoredObject | StorageError | undefined)[]> {
    const values = [keys.map((key) => key.resource), keys.map((key) => key.namespace), keys.map((key) => key.name)];
    const rows = await this.pool.run((session) => session.run(GET_OBJECTS, values, POINT_READ_TIMEOUT_MS));
    const found = new Array<StoredObject | StorageError | undefined>(keys.length).fill(undefined);
    const indexOf = (row: Row) => Number(row[0]) - 1;
    await this.prepare(rows, (row) => keys[indexOf(row)] as StorageKey, 3);
    for (const row of rows) {
      const index = indexOf(row);
      const key = keys[index];
      if (key === undefined) continue;
      try {
        found[index] = storedObject(key, row, 1, this.sealing);
      } catch (error) {
        // The read is shared with callers of other objects: only the callers of this object fail.
        found[index] = error as StorageError;
      }
    }
    return found;
  }

  /** The objects in the rows, whose uid, version and data are the columns from `first` on. */
  private async objects(rows: readonly Row[], keyOf: (row: Row) => StorageKey, first: number): Promise<StoredObject[]> {
    const make = (row: Row) => storedObject(keyOf(row), row, first, this.sealing);
    if (!rows.some((row) => isSealed(text(row, first + 2)))) return rows.map(make);
    await this.prepare(rows, keyOf, first + 2);
    // Decrypting a page of large objects takes a while.
    return inTurns(mappedInSteps(rows, make));
  }

  private async prepare(rows: readonly Row[], keyOf: (row: Row) => StorageKey, column: number): Promise<void> {
    const sealed = rows.filter((row) => isSealed(text(row, column)));
    if (sealed.length === 0) return;
    await this.sealing.prepare(sealed.map((row) => ({ key: keyOf(row), stored: text(row, column) })));
  }

  private async loadBounds(): Promise<LogBounds> {
    const [row] = await this.epochs.read(1, () =>
      this.pool.run((session) => session.run(LOG_BOUNDS, [], POINT_READ_TIMEOUT_MS)),
    );
    return boundsOf(row);
  }

  private async page(
    { pageBytes, ...scope }: ListScope & Pick<ListQuery, 'pageBytes'>,
    after: ListPosition | undefined,
    version: bigint | undefined,
    limit: number,
  ): Promise<ListPage> {
    const range = keyRange(scope, after);
    const plain = pageBytes === undefined;
    const valuesAt = (wanted: bigint | undefined) => [...rangeValues(range), wanted?.toString() ?? null, limit + 1];
    const read = async (statement: Statement, values: readonly (string | number | null)[]) => {
      this.replica?.countPrimary();
      const run = () => this.pool.run((session) => session.run(statement, values, LIST_TIMEOUT_MS), 'long');
      return this.epochs.read(1, run);
    };
    const within = (values: readonly (string | number | null)[]) => (plain ? values : [...values, pageBytes]);
    const statement = plain ? LIST_PAGE : LIST_PAGE_WITHIN;
    let at = version;
    let rowsAt: Row[] | undefined;
    // A version of a client that the primary has not reported may be one that nobody has committed.
    const isKnown = at === undefined || at <= this.epochs.seen;
    if (isKnown && this.replica?.mayRead()) {
      // A replica has what the primary has committed only after a while: the primary says which version is the newest.
      at ??= (await this.bounds()).head;
      rowsAt = await this.replica.rowsAt(at, { statement, values: within(valuesAt(at)) });
      if (rowsAt === undefined) at = version;
    }
    const parsed = ([bounds, ...rows]: readonly Row[]) => ({ ...boundsOf(bounds), rows });
    let found = parsed(rowsAt ?? (await read(statement, within(valuesAt(at)))));
    // A version that the log no longer has may be in the history.
    if (at !== undefined && at < found.compactRevision) found = parsed(await read(PAST_PAGE, valuesAt(at)));
    const { head, rows } = found;
    if (at !== undefined) checkVersion(at, found);
    const keyOf = (row: Row) => ({ resource: scope.resource, namespace: text(row, 2), name: text(row, 3) });
    const items = await this.objects(rows.slice(0, limit), keyOf, 4);
    // The row with the bounds counts as well; only a page that may end early reports how many rows there would have
    // been.
    const isCut = Number(rows.at(-1)?.[7] ?? 0) > rows.length + 1;
    return { resourceVersion: at ?? head, items, more: rows.length > limit || isCut };
  }

  /**
   * Number of objects after the page. Only the first page of a series is counted; the numbers of the others follow from
   * it.
   */
  private async remaining(
    query: ListQuery,
    items: readonly StoredObject[],
    at: bigint,
    more: boolean,
  ): Promise<number | undefined> {
    if (!more) return 0;
    const end = items.at(-1)?.key ?? query.after;
    const key = countKey(query, end, at);
    const known = this.counts.get(key);
    if (known !== undefined) return known;
    const before = this.counts.get(countKey(query, query.after, at));
    if (before !== undefined) return this.counted(key, before - items.length);
    const values = [...rangeValues(keyRange(query, end)), at.toString()];
    if (query.countRemaining !== 'few') return this.counted(key, await this.count(COUNT_OBJECTS, values));
    // Only one long count runs at a time.
    if (this.isCounting) return undefined;
    const few = await this.count(COUNT_FEW_OBJECTS, [...values, MOST_COUNTED_AT_ONCE]);
    if (few !== undefined) return this.counted(key, few);
    this.countForLater(key, values);
    return undefined;
  }

  /** Counts for the pages that follow. No request waits for the count. */
  private countForLater(key: string, values: readonly (string | null)[]): void {
    if (this.isCounting) return;
    this.isCounting = true;
    this.count(COUNT_OBJECTS, values)
      .then((number) => this.counted(key, number))
      // If the count fails, the pages are returned without a number.
      .catch(() => undefined)
      .finally(() => {
        this.isCounting = false;
      });
  }

  private counted(key: string, number: number | undefined): number | undefined {
    if (number === undefined) return undefined;
    this.counts.set(key, number);
    for (const oldest of this.counts.keys()) {
      if (this.counts.size <= MOST_COUNTS) break;
      this.counts.delete(oldest);
    }
    return number;
  }

  private async count(statement: Statement, values: readonly (string | number | null)[]): Promise<number | undefined> {
    const [row] =
      (await this.replica?.rowsAt(BigInt(values[6] ?? 0), { statement, values })) ??
      (await this.pool.run((session) => session.run(statement, values, LIST_TIMEOUT_MS), 'long'));
    return typeof row?.[0] === 'string' ? Number(row[0]) : undefined;
  }
}

function countKey(scope: ListScope, after: ListPosition | undefined, at: bigint): string {
  return JSON.stringify([scope.resource, scope.namespace, scope.name, after?.namespace, after?.name, `${at}`]);
}

/** The bounds of the log, from the first row of a result. */
export function boundsOf(row: Row | undefined): LogBounds {
  if (row === undefined) throw new StorageError('Unavailable', 'the retention row is missing');
  return { compactRevision: BigInt(text(row, 0)), head: BigInt(text(row, 1)) };
}

/** Throws `Expired` or `TooLargeVersion` when the log does not reach `version`. */
export function checkVersion(version: bigint, bounds: LogBounds): void {
  if (version < bounds.compactRevision) {
    throw new StorageError('Expired', `version ${version} is too old; the oldest is ${bounds.compactRevision}`, {
      resourceVersion: bounds.compactRevision,
    });
  }
  if (version > bounds.head) {
    throw new StorageError('TooLargeVersion', `version ${version} is too large; the newest is ${bounds.head}`, {
      resourceVersion: bounds.head,
    });
  }
}

function rangeValues(range: KeyRange): (string | null)[] {
  return [range.resource, range.fromNamespace, range.fromName, range.toNamespace, range.toName, range.onlyName];
}
