-- Audit events (--audit-database). One partition a day, by the time of the event (UTC); the first ones are made when a
-- server starts with the option. Rows are only ever added.
create table plinth.audit_events (
  at timestamptz not null,
  received_at timestamptz not null,
  audit_id text not null,
  level text not null,
  stage text not null,
  verb text not null,
  request_uri text not null,
  code integer,
  reason text,
  username text,
  user_uid text,
  groups text[],
  impersonated_user text,
  impersonated_groups text[],
  source_ips inet[],
  user_agent text,
  api_group text collate "C",
  api_version text,
  resource text collate "C",
  subresource text,
  namespace text collate "C",
  name text collate "C",
  annotations jsonb,
  -- Versions that the objects had after the writes of the request: the rows of plinth.changes that it made.
  resource_versions bigint[],
  -- The whole event as the other backends get it.
  event json not null
) partition by range (at);

create index audit_events_by_object on plinth.audit_events (resource, namespace, name, at);
create index audit_events_by_user on plinth.audit_events (username, at);

do $$
begin
  alter table plinth.audit_events alter column event set compression lz4;
exception when feature_not_supported or invalid_parameter_value then null;
end
$$;

-- Upkeep of the partitions.
create table plinth.lock_audit ();

-- What readers may see: who did what, when and from where. Objects, query strings (which may hold a command line) and the
-- patches of webhooks are for the owner of the database only.
create view cluster.audit with (security_barrier = true) as
select
  e.at, e.received_at, e.audit_id, e.level, e.stage, e.verb, e.username, e.groups, e.impersonated_user, e.source_ips,
  e.user_agent, e.api_group, e.api_version, e.resource, e.subresource, e.namespace, e.name, e.code, e.reason,
  split_part(e.request_uri, '?', 1) as path, e.resource_versions,
  (select jsonb_object_agg(a.key, a.value)
   from jsonb_each(e.annotations) a where a.key not like 'patch.webhook.%') as annotations
from plinth.audit_events e;
comment on view cluster.audit is 'Audit events, when --audit-database is on. Written by plinth, read with the role plinth_reader.';

do $$
begin
  if exists (select from pg_roles where rolname = 'plinth_reader') then
    grant select on cluster.audit to plinth_reader;
  end if;
end
$$;

revoke all on all tables in schema plinth from public;
