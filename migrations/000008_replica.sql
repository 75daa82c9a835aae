-- Databases that follow another one by logical replication. replica: this one does, and takes no writes of its own.
alter table plinth.epoch add column replica boolean not null default false;

-- subscription: by which it follows. begun_at: when all tables were there; nothing may be read before.
create table plinth.replica (
  singleton boolean primary key default true check (singleton),
  subscription name not null,
  begun_at timestamptz
);

revoke all on all tables in schema plinth from public;
