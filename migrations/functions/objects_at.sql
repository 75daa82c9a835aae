-- The objects under many keys of a resource at version p_at, in the order of the keys, as plinth.list_page shows them
-- at that version. The first row only has compact_revision and head; everything comes from one snapshot. Volatile for
-- the same reason as plinth.list_page.
create or replace function plinth.objects_at(
  p_resource text, p_namespaces text[], p_names text[], p_at bigint
) returns table (
  compact_revision bigint, head bigint, namespace text, name text, uid text, resource_version bigint, data json)
language plpgsql
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set max_parallel_workers_per_gather = 0
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  if pg_is_in_recovery() then
    raise exception 'the database is a standby; connect to the primary' using errcode = '25006';
  end if;
  return query
    (select case when p_at > r.lost_after and p_at < r.lost_until then r.lost_until else r.compact_revision end,
      greatest(r.closed, (
        select c.resource_version from plinth.changes c
        where c.resource_version > (select x.closed from plinth.retention x where x.singleton)
        order by c.resource_version desc limit 1)),
      null::text, null::text, null::text, null::bigint, null::json
    from plinth.retention r where r.singleton)
    union all
    (select null, null, k.namespace, k.name,
      case when o.resource_version <= p_at then o.uid else f.uid end,
      case when o.resource_version <= p_at then o.resource_version else f.previous_version end,
      case when o.resource_version <= p_at then o.data else f.previous end
    from rows from (unnest(p_namespaces), unnest(p_names)) with ordinality as k (namespace, name, index)
    left join plinth.objects o on o.resource = p_resource and o.namespace = k.namespace and o.name = k.name
    left join lateral (
      select c.uid, c.previous_version, coalesce(c.previous,
        (select b.data from plinth.changes b where b.resource_version = c.previous_version)) as previous
      from plinth.changes c
      where (o.resource_version is null or o.resource_version > p_at)
        and c.resource = p_resource and c.namespace = k.namespace and c.name = k.name
        and c.resource_version > p_at
      order by c.resource_version limit 1
    ) f on true
    where o.resource_version <= p_at or f.previous_version is not null
    order by k.index);
end
$$;
