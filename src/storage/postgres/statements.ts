import type { Sealing } from '../encryption/sealing.js';
import type { StoredObject } from '../storage.interface.js';
import { StorageError } from '../storage-error.js';
import type { StorageKey } from '../storage-key.js';
import type { Row, Statement } from './session.js';

/*
 * Every hot statement. Each calls one function of migrations/, where the SQL and its planner settings live. The name is
 * that of the prepared statement, and the label in metrics.
 */

export const WRITE_BATCH: Statement = {
  name: 'write-batch',
  text: 'select index, version, current_uid, current_version, current_data from plinth.write_batch($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)',
};

/** Fails when a write would fail. */
export const CHECK_WRITES: Statement = { name: 'check-writes', text: 'select plinth.check_writes()' };

/** Terminates the sessions that hold the writers' lock and wait for a stalled client. */
export const FREE_WRITERS: Statement = {
  name: 'free-writers',
  text: `select plinth.free_writers($1::double precision * interval '1 millisecond')`,
};

/** The channel that announces the newest version to processes. */
export const HINT_CHANNEL: Statement = {
  name: 'hint-channel',
  text: 'select channel from plinth.epoch where singleton',
};

/**
 * Six columns that a database and its replicas have in common, and no other database or history; then the two ends of the
 * log, and the batch that wrote a version (null: the newest one), if the log has it.
 */
export const REPLICA_HISTORY: Statement = {
  name: 'replica-history',
  text: `select e.channel || (select d.oid from pg_database d where d.datname = current_database()), e.epoch, e.started, e.system_identifier, e.timeline, e.relation = e.tableoid,
      b.compact_revision, b.head, (select c.batch from plinth.changes c where c.resource_version = coalesce($1::bigint, b.head))
    from plinth.epoch e, plinth.log_bounds() b where e.singleton`,
};

export const RESOLVE_BATCH: Statement = {
  name: 'resolve-batch',
  text: 'select version, resource, namespace, name from plinth.resolve_batch($1, $2)',
};

export const GET_OBJECTS: Statement = {
  name: 'get-objects',
  text: 'select index, uid, resource_version, data from plinth.get_objects($1, $2, $3)',
};

export const LIST_PAGE: Statement = {
  name: 'list-page',
  text: 'select compact_revision, head, namespace, name, uid, resource_version, data from plinth.list_page($1, $2, $3, $4, $5, $6, $7, $8)',
};

/**
 * {@link LIST_PAGE} up to the object whose text exceeds the given number of bytes, with the number of rows that the
 * page would have had. The size of compressed text is known only after reading it.
 */
export const LIST_PAGE_WITHIN: Statement = {
  name: 'list-page-within',
  text: `select compact_revision, head, namespace, name, uid, resource_version, data, whole from (
    select p.*, count(*) over () as whole, sum(
      case when pg_column_compression(p.data) is null then pg_column_size(p.data) else octet_length(p.data::text) end
    ) over (order by p.place rows between unbounded preceding and 1 preceding) as before
    from plinth.list_page($1, $2, $3, $4, $5, $6, $7, $8) with ordinality
      p (compact_revision, head, namespace, name, uid, resource_version, data, place)
  ) w where before is null or before < $9 order by place`,
};

/** A page without most of the objects whose text contains none of the given words. */
export const FIND_PAGE: Statement = {
  name: 'find-page',
  text: 'select compact_revision, head, namespace, name, uid, resource_version, data, looked from plinth.find_page($1, $2, $3, $4, $5, $6, $7, $8, $9)',
};

/** Keys in some blocks of the table whose text contains the given words. */
export const FIND_BLOCKS: Statement = {
  name: 'find-blocks',
  text: 'select compact_revision, head, file, blocks, namespace, name from plinth.find_blocks($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)',
};

/** Keys of later changes whose text contains the given words. */
export const CHANGED_KEYS: Statement = {
  name: 'changed-keys',
  text: 'select compact_revision, head, namespace, name from plinth.changed_keys($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)',
};

/** Objects by key at a version. */
export const OBJECTS_AT: Statement = {
  name: 'objects-at',
  text: 'select compact_revision, head, namespace, name, uid, resource_version, data from plinth.objects_at($1, $2, $3, $4)',
};

export const COUNT_OBJECTS: Statement = {
  name: 'count-objects',
  text: 'select plinth.count_objects($1, $2, $3, $4, $5, $6, $7), b.head from plinth.log_bounds() b',
};

/** Like {@link COUNT_OBJECTS}, but null if there are more than the last parameter. */
export const COUNT_FEW_OBJECTS: Statement = {
  name: 'count-few-objects',
  text: 'select plinth.count_few_objects($1, $2, $3, $4, $5, $6, $7, $8), b.head from plinth.log_bounds() b',
};

/** All objects by resource: an index-only scan of the primary key. */
export const CENSUS: Statement = {
  name: 'census',
  text: 'select resource, count(*) from plinth.objects group by resource',
};

export const DATABASE_SIZE: Statement = {
  name: 'database-size',
  text: 'select pg_database_size(current_database())',
};

export const LOG_BOUNDS: Statement = {
  name: 'log-bounds',
  text: 'select compact_revision, head from plinth.log_bounds()',
};

export const READ_CHANGES: Statement = {
  name: 'read-changes',
  text: 'select compact_revision, head, total, resource_version, type, resource, namespace, name, uid, data, previous from plinth.read_changes($1, $2, $3, $4, $5, $6, $7)',
};

export const SERVER_KEY: Statement = {
  name: 'server-key',
  text: `select encode(value, 'hex') from plinth.server_keys where name = $1`,
};

export const ADD_PARTITIONS: Statement = {
  name: 'add-partitions',
  text: 'select plinth.add_change_partitions($1)',
};

export const KEEP_CHANGES: Statement = {
  name: 'keep-changes',
  text: `select lower from plinth.keep_changes($1::double precision * interval '1 millisecond', $2::double precision * interval '1 millisecond', $3)`,
};

export const BOUND_HISTORY: Statement = { name: 'bound-history', text: 'select plinth.bound_history($1)' };

export const KEEP_HISTORY: Statement = {
  name: 'keep-history',
  text: `select lower from plinth.keep_history($1::double precision * interval '1 millisecond', $2)`,
};

export const PAST_PAGE: Statement = {
  name: 'past-page',
  text: 'select floor, head, namespace, name, uid, resource_version, data from plinth.past_page($1, $2, $3, $4, $5, $6, $7, $8)',
};

export const VERSION_AT: Statement = {
  name: 'version-at',
  text: 'select cluster.version_at($1::text), b.floor, b.head from plinth.past_bounds(null) b',
};

/**
 * Times and versions, rising: the oldest change that is kept, what was recorded last before each of $2 moments since $1
 * (in milliseconds; null: since the oldest change), and now. Moments instead of all records, of which a year has half a
 * million: each is found by the index.
 */
export const VERSION_TIMES: Statement = {
  name: 'version-times',
  text: `with bounds as materialized (select floor, head from plinth.past_bounds(null)),
    oldest as materialized (
      select e.at, e.resource_version as version from bounds b, lateral (
        (select h.at, h.resource_version from plinth.history h
        where h.resource_version > b.floor order by h.resource_version limit 1)
        union all
        (select c.at, c.resource_version from plinth.changes c
        where c.resource_version > b.floor order by c.resource_version limit 1)
      ) e order by e.resource_version limit 1),
    span as materialized (
      select greatest((select at from oldest), to_timestamp($1::double precision / 1000)) as first, clock_timestamp() as last)
    select floor(extract(epoch from t.at) * 1000)::text, t.version::text from (
      select at, version from oldest
      union
      select n.at, n.version from span s, generate_series(0, $2::int) i, lateral (
        select t.at, t.version from plinth.version_times t
        where t.at <= s.first + (s.last - s.first) * i / $2::int and t.at >= (select at from oldest)
        order by t.at desc limit 1) n
      union
      select s.last, b.head from bounds b, span s
    ) t order by t.at, t.version`,
};

export const HISTORY_SIZE: Statement = {
  name: 'history-size',
  text: `select partitions, bytes, coalesce(extract(epoch from clock_timestamp() - oldest_at), 0) from cluster.history_size()`,
};

export const LOG_SIZE: Statement = {
  name: 'log-size',
  text: `select count(*), coalesce(sum(pg_total_relation_size(i.inhrelid)), 0), pg_notification_queue_usage(),
      (select coalesce(sum(s.n_dead_tup), 0) from pg_stat_user_tables s where s.schemaname = 'plinth'),
      pg_current_wal_insert_lsn() - pg_lsn '0/0'
    from pg_inherits i where i.inhparent = 'plinth.changes'::regclass`,
};

export const CHECK_EPOCH: Statement = {
  name: 'check-epoch',
  text: 'select action, epoch, started, head, lost_after, lost_until, system_identifier, timeline, missing from plinth.check_epoch($1, $2, $3)',
};

/** The epoch, whether its table is still the same, and the timeline where it is recorded. Fails on a standby. */
export const HISTORY_SIGNS: Statement = {
  name: 'heartbeat',
  text: `select e.epoch, e.relation = e.tableoid, case when e.timeline is not null then plinth.current_timeline() end
    from plinth.epoch e, plinth.log_bounds()`,
};

export const AGED_OBJECTS: Statement = {
  name: 'aged-objects',
  text: `select done, namespace, name, uid, resource_version, data
    from plinth.aged_objects($1, $2::double precision * interval '1 millisecond', $3, $4, $5)`,
};

export const NOTE_VERSION_TIME: Statement = {
  name: 'note-version-time',
  text: `select plinth.note_version_time($1::double precision * interval '1 millisecond')`,
};

/** The read statements, by name. */
export const readStatements: ReadonlyMap<string, Statement> = new Map(
  [
    GET_OBJECTS,
    LIST_PAGE,
    LIST_PAGE_WITHIN,
    FIND_PAGE,
    FIND_BLOCKS,
    CHANGED_KEYS,
    OBJECTS_AT,
    PAST_PAGE,
    COUNT_OBJECTS,
    COUNT_FEW_OBJECTS,
    CENSUS,
    DATABASE_SIZE,
    LOG_BOUNDS,
    READ_CHANGES,
    SERVER_KEY,
    VERSION_AT,
    AGED_OBJECTS,
    NOTE_VERSION_TIME,
  ].map((statement) => [statement.name, statement]),
);

const withHead: ReadonlySet<Statement> = new Set([
  LIST_PAGE,
  LIST_PAGE_WITHIN,
  FIND_PAGE,
  FIND_BLOCKS,
  CHANGED_KEYS,
  OBJECTS_AT,
  PAST_PAGE,
  COUNT_OBJECTS,
  COUNT_FEW_OBJECTS,
  LOG_BOUNDS,
  READ_CHANGES,
]);

/** Whether the second column of the first row is the newest committed version. */
export function hasHead(statement: Statement): boolean {
  return withHead.has(statement);
}

/** Text of a column that is never NULL. */
export function text(row: Row, column: number): string {
  const value = row[column];
  if (value === null || value === undefined) throw new StorageError('Unavailable', `column ${column} is missing`);
  return value;
}

/**
 * The object whose uid, version and data are the columns from `first` on.
 *
 * @throws StorageError `Unreadable` when its text can't be decrypted
 */
export function storedObject(key: StorageKey, row: Row, first: number, sealing: Sealing): StoredObject {
  const stored = text(row, first + 2);
  const object = {
    key,
    uid: text(row, first),
    resourceVersion: BigInt(text(row, first + 1)),
    json: sealing.open(key, stored),
  };
  return sealing.isOutdated(key, stored) ? { ...object, isOutdated: true } : object;
}
