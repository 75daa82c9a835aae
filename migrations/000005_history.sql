-- The past behind the log (--history-retention). When a partition of the log is to be dropped, its changes are copied
-- here before.

-- Like plinth.changes, without what can be found in another row: previous is there for the first change of an object
-- within its partition only.
create table plinth.history (
  resource_version bigint not null,
  type smallint not null,
  resource text collate "C" not null,
  namespace text collate "C" not null,
  name text collate "C" not null,
  uid text not null,
  data json not null,
  previous json,
  previous_version bigint,
  at timestamptz not null,
  primary key (resource_version)
) partition by range (resource_version);

create index history_by_key on plinth.history (resource, namespace, name, resource_version);
create index history_deletes on plinth.history (resource, namespace, name, resource_version) where type = 2;

do $$
begin
  alter table plinth.history alter column data set compression lz4, alter column previous set compression lz4;
exception when feature_not_supported or invalid_parameter_value then null;
end
$$;

-- The partitions of plinth.history: versions in [lower, upper), of which the last one was written at last_at.
create table plinth.history_partitions (
  lower bigint primary key,
  upper bigint not null,
  last_at timestamptz not null
);

-- One row while the past is kept. States can be told from the version floor on. Changes before the version upto are in
-- plinth.history, the others in plinth.changes. pending: partitions of the log that were there at the last round, and
-- have to be copied. confirmed_at: when a process that has the option was last there.
create table plinth.history_state (
  singleton boolean primary key default true check (singleton),
  retention interval not null,
  confirmed_at timestamptz not null,
  floor bigint not null,
  upto bigint not null,
  pending bigint[] not null
);

-- Resources that are left out of the history. included_from: they no longer are, and their states can be told from this
-- version on.
create table plinth.history_exclusions (
  resource text collate "C" primary key,
  included_from bigint
);

-- One process at a time copies, drops and changes the settings.
create table plinth.lock_history ();

-- Which stored objects a view shows: what a role may read of the past is what it may read of the present.
alter table plinth.sql_views add column resource text;

revoke all on all tables in schema plinth from public;
