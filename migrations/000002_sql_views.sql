-- What the readable views of schema cluster are made with. The views themselves follow the kinds that are served and
-- are written by the program.

create schema if not exists cluster;
comment on schema cluster is 'One view per kind of the cluster API. Written by plinth, read with the role plinth_reader.';
revoke all on schema cluster from public;

-- The views this program made: others in the schema are left alone.
create table plinth.sql_views (
  name text primary key,
  digest text not null
);

-- digest: of the whole set of views, so that a start finds out with one read that nothing is to be done. reader: the
-- role the rights were given to; a role made anew has none.
create table plinth.sql_views_state (
  singleton boolean primary key default true check (singleton),
  digest text not null,
  reader oid
);
insert into plinth.sql_views_state (digest) values ('');

revoke all on all tables in schema plinth from public;
