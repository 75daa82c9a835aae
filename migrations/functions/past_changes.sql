-- The objects behind cluster.changes_between: one row per object that changed after one version and up to another, in
-- the resources that the caller may read, or in one of them. before and after: the stored text, null where there was no
-- object. is_hidden_changed: whether a part that is not shown has changed.
create or replace function plinth.past_changes(
  p_after bigint,
  p_upto bigint,
  p_resource text,
  p_namespace text,
  p_name text
) returns table (resource text, namespace text, name text, verb text, changes bigint, version bigint, at timestamptz,
  before_version bigint, before json, after json, is_hidden_changed boolean)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set max_parallel_workers_per_gather = 0
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
declare
  stored constant text := case when p_resource is not null then plinth.readable_resource(p_resource) end;
  readable constant text[] := case when stored is null then plinth.readable_resources() else array[stored] end;
  copied constant bigint := coalesce((select s.upto from plinth.history_state s where s.singleton), 0);
begin
  perform plinth.check_past(stored, p_after);
  perform plinth.check_past(stored, p_upto);
  return query
    with c as materialized (
      select h.resource_version, h.resource, h.namespace, h.name from plinth.history h
      where h.resource_version > p_after and h.resource_version <= p_upto and h.resource_version < copied
        and h.resource = any (readable) and (p_namespace is null or h.namespace = p_namespace)
        and (p_name is null or h.name = p_name)
      union all
      select h.resource_version, h.resource, h.namespace, h.name from plinth.changes h
      where h.resource_version > p_after and h.resource_version <= p_upto and h.resource_version >= copied
        and h.resource = any (readable) and (p_namespace is null or h.namespace = p_namespace)
        and (p_name is null or h.name = p_name)
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
      k.changes, k.last, l.at, f.previous_version, plinth.readable_text(k.resource, f.previous),
      case when l.type < 2 then plinth.readable_text(k.resource, l.data) end,
      k.resource = 'secrets' and f.previous_version is not null and l.type < 2
        and plinth.safe_jsonb(f.previous) -> 'data' is distinct from plinth.safe_jsonb(l.data) -> 'data'
    -- Sorted before the states are added: these are large.
    from (select * from keys order by last offset 0) k
    cross join lateral (
      select h.uid, h.previous_version, case when h.previous is null and h.previous_version is not null
        then (select b.data from plinth.history b where b.resource_version = h.previous_version) else h.previous end as previous
      from plinth.history h where k.first < copied and h.resource_version = k.first
      union all
      select h.uid, h.previous_version,
        coalesce(h.previous, (select b.data from plinth.changes b where b.resource_version = h.previous_version))
      from plinth.changes h
      where k.first >= copied and h.resource_version = k.first
    ) f
    cross join lateral (
      select h.type, h.uid, h.at, h.data from plinth.history h where k.last < copied and h.resource_version = k.last
      union all
      select h.type, h.uid, h.at, h.data from plinth.changes h where k.last >= copied and h.resource_version = k.last
    ) l;
  perform plinth.check_past(stored, p_after);
end
$$;
