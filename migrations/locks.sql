-- The schema, its locks, and the record of what was applied. Runs before anything else, and again when it changes, so
-- every statement must be repeatable.

create schema if not exists plinth;
revoke all on schema plinth from public;

-- The locks of the program. Each is an empty table, locked with `lock table ... in exclusive mode` until the end of a
-- transaction. That writes nothing, lets pg_dump pass, and needs a right on the table, which only its owner has. An
-- advisory lock could be taken and kept by anybody who may connect.
--
-- A transaction that needs several locks takes them in this order, which rules out deadlocks.

-- Changes of the schema, its functions and the SQL views.
create table if not exists plinth.lock_migrations ();
-- Log upkeep: one round at a time. No process waits for this lock.
create table if not exists plinth.lock_upkeep ();
-- Drawing versions. The holder is the only writer, so versions become visible in their own order.
create table if not exists plinth.lock_writes ();
-- Adding partitions to the log.
create table if not exists plinth.lock_partitions ();

create table if not exists plinth.applied_migrations (
  version integer primary key,
  name text not null,
  digest text not null,
  applied_at timestamptz not null default clock_timestamp()
);

-- Texts that are applied again when they change: this file and the functions. release: the release of the program that
-- applied the text.
create table if not exists plinth.applied_texts (
  name text primary key,
  digest text not null,
  release text not null,
  applied_at timestamptz not null default clock_timestamp()
);

revoke all on all tables in schema plinth from public;
