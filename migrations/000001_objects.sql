-- Live objects, the log of their changes, and what keeps both right. Runs inside one transaction.

-- CACHE 1: a cached block of numbers per session would break "version order is commit order".
-- 1 stays free as the version of the empty store; 0 has a meaning of its own in the API.
create sequence plinth.resource_version as bigint start 2 minvalue 1 cache 1 no cycle;

-- One row per live object. Only the primary key is indexed, so that an update is a HOT update.
-- json keeps the text as it was written; jsonb would re-encode it.
create table plinth.objects (
  resource text collate "C" not null,
  namespace text collate "C" not null,
  name text collate "C" not null,
  uid text not null,
  resource_version bigint not null,
  data json not null,
  primary key (resource, namespace, name)
) with (
  fillfactor = 80,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_insert_scale_factor = 0.05,
  autovacuum_analyze_scale_factor = 0.05,
  autovacuum_vacuum_cost_delay = 1,
  toast.autovacuum_vacuum_scale_factor = 0.05,
  toast.autovacuum_vacuum_cost_delay = 1
);

-- Every version once. type: 0 create, 1 update, 2 delete. data is the state after the change (of a delete the full
-- last state), previous the state before it. Rows are only ever added; old ones leave with their partition.
create table plinth.changes (
  resource_version bigint not null,
  type smallint not null,
  resource text collate "C" not null,
  namespace text collate "C" not null,
  name text collate "C" not null,
  uid text not null,
  data json not null,
  previous json,
  previous_version bigint,
  batch bigint not null,
  at timestamptz not null,
  primary key (resource_version)
) partition by range (resource_version);

-- For lists as of an older version: of a key that lives, the first change after it; and the keys deleted since.
create index changes_by_key on plinth.changes (resource, namespace, name, resource_version);
create index changes_deletes on plinth.changes (resource, namespace, name, resource_version) where type = 2;

do $$
begin
  alter table plinth.objects alter column data set compression lz4;
  alter table plinth.changes alter column data set compression lz4, alter column previous set compression lz4;
exception when feature_not_supported or invalid_parameter_value then
  raise notice 'this server has no lz4; stored objects use its default compression';
end
$$;

-- The partitions of plinth.changes: versions in [lower, upper). closed_at: when the sequence had passed it. The first
-- ones are made when the functions are there.
create table plinth.change_partitions (
  lower bigint primary key,
  upper bigint not null,
  closed_at timestamptz
);

-- Tables of one row are asked for it by their key (`where singleton`): functions that switch off sequential scans would
-- otherwise get a plan with a made-up cost of 1e10, which the server takes for a reason to compile it.

-- compact_revision: the oldest version that can be listed at or watched from; raised before anything is dropped, never
-- lowered.
-- closed: last version of the newest closed partition; the head is never below it. Versions strictly between lost_after
-- and lost_until were never committed in this history, but may have been in one that was lost: the sequence jumped over
-- them. Nothing can be read at one of them.
create table plinth.retention (
  singleton boolean primary key default true check (singleton),
  compact_revision bigint not null,
  closed bigint not null,
  lost_after bigint not null default 0,
  lost_until bigint not null default 0
);
insert into plinth.retention (compact_revision, closed) values (1, 1);

-- Batches whose sender lost its connection and has drawn a line: they must not run any more.
create table plinth.fenced_batches (
  batch bigint primary key,
  fenced_at timestamptz not null default clock_timestamp()
);

-- Which history of the database this is. A restore or a failover changes system_identifier or timeline. relation,
-- database: object identifiers of this table and its database; a restored dump has new ones. started: first readable
-- version of the epoch. channel: where the newest version is notified. Anybody may notify, and make every process look at
-- the log, so the name is known to the owner only.
create table plinth.epoch (
  singleton boolean primary key default true check (singleton),
  epoch bigint not null,
  system_identifier bigint,
  timeline integer,
  highest_version bigint not null,
  checked_at timestamptz not null default clock_timestamp(),
  relation oid,
  database oid,
  started bigint not null default 1,
  channel text not null default 'plinth_hints_' || replace(gen_random_uuid()::text, '-', '')
);
insert into plinth.epoch (epoch, highest_version) values (1, 1);

-- Every time the history of the database was found to go on elsewhere. seen: newest version that who found out had
-- seen; continued_after: newest version of the database then; continued_at: from where versions go on.
create table plinth.epoch_changes (
  id bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  epoch bigint not null,
  action text not null,
  reason text not null,
  system_identifier bigint,
  timeline integer,
  seen bigint,
  continued_after bigint not null,
  continued_at bigint not null
);

-- At that time every version up to this one was committed: tells the age of objects longer than the log does.
create table plinth.version_times (
  at timestamptz primary key,
  version bigint not null
);

-- Secrets that every process of a cluster has to share, made once. Read by the owner of the schema only.
create table plinth.server_keys (
  name text primary key,
  value bytea not null check (length(value) >= 32)
);

-- Signs continue tokens of lists. A uuid has 122 random bits from the strong generator of the server.
insert into plinth.server_keys (name, value) values (
  'continue-token',
  sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8'))
);

revoke all on all tables in schema plinth from public;
