-- The changes of an object, the oldest first. verb: created, updated, deleted; existing for the state before the first
-- kept change, if there was one. manager: the field manager of the change. username: from the audit events, where these
-- are kept and the caller may read them. diff: the effect of the change.
create or replace function cluster.history(resource text, in_namespace text, object_name text)
returns table (version bigint, at timestamptz, verb text, manager text, username text, diff jsonb, uid text, object jsonb)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  stored constant text := plinth.readable_resource(history.resource);
  may_know_users constant boolean := has_table_privilege(plinth.reading_role(), 'cluster.audit', 'select');
  plain constant text := split_part(stored, '.', 1);
begin
  return query
    with c as materialized (
      select k.* from plinth.key_changes(stored, coalesce(in_namespace, ''), object_name) k
    ), first as (
      select c.previous_version as version, c.previous as data, c.uid from c order by c.resource_version limit 1
    )
    select f.version, null::timestamptz, 'existing', null::text, null::text, '[]'::jsonb, f.uid,
      plinth.shown_object(stored, f.data, f.version)
    from (
      select f.* from first f where f.version is not null
      union all
      select o.resource_version, o.data, o.uid from plinth.objects o
      where o.resource = stored and o.namespace = coalesce(in_namespace, '') and o.name = object_name
        and not exists (select from c)
    ) f
    union all
    (select c.resource_version, c.at, (array['created', 'updated', 'deleted'])[c.type + 1],
      case when c.type < 2 then plinth.field_manager(s.before, s.after) end,
      case when may_know_users then (
        select coalesce(a.impersonated_user, a.username) from plinth.audit_events a
        where a.resource = plain and (a.namespace = in_namespace or coalesce(in_namespace, '') = '')
          and (a.name = object_name or a.name is null)
          and a.at between c.at - interval '2 minutes' and c.at + interval '2 minutes'
          and a.resource_versions @> array[c.resource_version]
        order by a.stage = 'ResponseComplete' desc limit 1) end,
      plinth.shown_diff(s.before, s.after, c.type = 1, c.type = 1 and stored = 'secrets'
        and plinth.safe_jsonb(c.previous) -> 'data' is distinct from plinth.safe_jsonb(c.data) -> 'data'),
      c.uid, s.after
    from c
    cross join lateral (
      select plinth.shown_object(stored, c.previous, c.previous_version) as before,
        plinth.shown_object(stored, c.data, c.resource_version) as after
      offset 0) s
    order by c.resource_version);
end
$$;
