-- Rows of objects as jsonb, with columns and indexes, which the views of schema cluster read from where that is switched
-- on. The tables themselves are made by the program, one per resource.

create table plinth.projected_tables (
  resource text primary key,
  table_name text not null unique,
  -- Of the columns: a table with others is made anew.
  digest text not null,
  -- Columns besides namespace, name, uid, resource_version and object, and how each is made of the object.
  columns text[] not null,
  expressions text[] not null,
  -- The visible part of the object.
  visible text not null,
  -- Version that the table shows while it is younger than the others; null once it goes with them.
  own_position bigint
);

-- position: all tables show this version. epoch: the history of the database that they follow.
create table plinth.projection (
  singleton boolean primary key default true check (singleton),
  position bigint not null,
  epoch bigint not null
);

-- One process at a time moves the position.
create table plinth.lock_projection ();

revoke all on all tables in schema plinth from public;
