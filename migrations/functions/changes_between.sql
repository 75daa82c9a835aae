-- What became of objects after version a and up to version b, in all resources that the caller may read, or in one; one row per
-- object that changed. verb: created, updated, deleted; replaced where another object of the name took its place; passing for
-- one that was there only in between.
create or replace function cluster.changes_between(a bigint, b bigint, in_resource text default null, in_namespace text default null)
returns table (resource text, namespace text, name text, verb text, changes bigint, version bigint, at timestamptz,
  manager text, diff jsonb, before jsonb, after jsonb)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set max_parallel_workers_per_gather = 0
as $$
#variable_conflict use_column
declare
  stored constant text := case when in_resource is not null then plinth.readable_resource(in_resource) end;
  readable constant text[] := case when stored is null then plinth.readable_resources() else array[stored] end;
begin
  perform plinth.check_past(stored, a);
  perform plinth.check_past(stored, b);
  return query
    with copied as materialized (
      select coalesce((select s.upto from plinth.history_state s where s.singleton), 0) as upto
    ), c as materialized (
      select h.resource_version, h.resource, h.namespace, h.name from plinth.history h
      where h.resource_version > a and h.resource_version <= b and h.resource_version < (select x.upto from copied x)
        and h.resource = any (readable) and (in_namespace is null or h.namespace = in_namespace)
      union all
      select h.resource_version, h.resource, h.namespace, h.name from plinth.changes h
      where h.resource_version > a and h.resource_version <= b and h.resource_version >= (select x.upto from copied x)
        and h.resource = any (readable) and (in_namespace is null or h.namespace = in_namespace)
    ), keys as (
      select c.resource, c.namespace, c.name, min(c.resource_version) as first, max(c.resource_version) as last,
        count(*) as changes
      from c group by c.resource, c.namespace, c.name
    )
    select k.resource, nullif(k.namespace, ''), k.name,
      case
        when f.previous_version is null and l.type = 2 then 'passing'
        when f.previous_version is null then 'created'
        when l.type = 2 then 'deleted'
        when f.uid <> l.uid then 'replaced'
        else 'updated'
      end,
      k.changes, k.last, l.at,
      case when l.type < 2 then plinth.field_manager(plinth.shown_object(k.resource, f.previous, 1),
        plinth.shown_object(k.resource, l.data, 1)) end,
      plinth.object_diff(k.resource, case when l.type < 2 then f.previous end,
        case when f.previous_version is not null and l.type < 2 then l.data end, f.previous_version, k.last),
      case when f.previous_version is not null then plinth.shown_object(k.resource, f.previous, f.previous_version) end,
      case when l.type < 2 then plinth.shown_object(k.resource, l.data, k.last) end
    from keys k
    cross join lateral plinth.kept_change(k.first) f
    cross join lateral plinth.kept_change(k.last) l
    order by k.last;
  perform plinth.check_past(stored, a);
end
$$;
