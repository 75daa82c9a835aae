-- One page of a resource in (namespace, name) order, keys from (p_from_*) inclusive to (p_to_*) exclusive. The first
-- row only has compact_revision and head, all others only an object; everything comes from one snapshot. With p_at the
-- page shows that version (meaningless unless compact_revision <= p_at <= head; for a lost version, compact_revision is
-- the first version after the gap). It has the present objects, and those changed or deleted since in the state before
-- their first change after p_at. Both parts walk their index in key order and stop at the limit; filtering objects by
-- version instead would walk over all changed ones.
--
-- Volatile on purpose: a stable function would read under the snapshot of the calling statement, taken before the
-- log's partitions are locked, and could miss one that is dropped in between.
create or replace function plinth.list_page(
  p_resource text,
  p_from_namespace text,
  p_from_name text,
  p_to_namespace text,
  p_to_name text,
  p_only_name text,
  p_at bigint,
  p_limit bigint
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
  -- Sessions with a read replica say so: they must not read from anything else, such as a replica that was promoted.
  if pg_is_in_recovery() <> (coalesce(current_setting('plinth.reads_standby', true), '') = 'on') then
    raise exception '%', case when pg_is_in_recovery() then 'the database is a standby; connect to the primary'
      else 'the database is no standby any more' end using errcode = '25006';
  end if;
  if p_at is null then
    return query
      (select r.compact_revision, greatest(r.closed, (
          select c.resource_version from plinth.changes c
          where c.resource_version > (select x.closed from plinth.retention x where x.singleton)
          order by c.resource_version desc limit 1)),
        null::text, null::text, null::text, null::bigint, null::json
      from plinth.retention r where r.singleton)
      union all
      (select null, null, o.namespace, o.name, o.uid, o.resource_version, o.data
      from plinth.objects o
      where o.resource = p_resource
        and (o.namespace, o.name) >= (p_from_namespace, p_from_name)
        and (o.namespace, o.name) < (p_to_namespace, p_to_name)
        and (p_only_name is null or o.name = p_only_name)
      order by o.namespace, o.name limit p_limit);
  else
    return query
      (select case when p_at > r.lost_after and p_at < r.lost_until then r.lost_until else r.compact_revision end,
          greatest(r.closed, (
          select c.resource_version from plinth.changes c
          where c.resource_version > (select x.closed from plinth.retention x where x.singleton)
          order by c.resource_version desc limit 1)),
        null::text, null::text, null::text, null::bigint, null::json
      from plinth.retention r where r.singleton)
      union all
      (select null, null, m.namespace, m.name, m.uid, m.resource_version, m.data
      from (
        (select o.namespace, o.name,
          case when o.resource_version <= p_at then o.uid else f.uid end as uid,
          case when o.resource_version <= p_at then o.resource_version else f.previous_version end as resource_version,
          case when o.resource_version <= p_at then o.data else f.previous end as data
        from plinth.objects o
        left join lateral (
          select c.uid, c.previous_version, coalesce(c.previous,
            (select b.data from plinth.changes b where b.resource_version = c.previous_version)) as previous
          from plinth.changes c
          where o.resource_version > p_at
            and c.resource = p_resource and c.namespace = o.namespace and c.name = o.name
            and c.resource_version > p_at
          order by c.resource_version limit 1
        ) f on true
        where o.resource = p_resource
          and (o.namespace, o.name) >= (p_from_namespace, p_from_name)
          and (o.namespace, o.name) < (p_to_namespace, p_to_name)
          and (p_only_name is null or o.name = p_only_name)
          and (o.resource_version <= p_at or f.previous_version is not null)
        order by o.namespace, o.name limit p_limit)
        union all
        (select d.namespace, d.name, f.uid, f.previous_version, f.previous
        from (
          select distinct c.namespace, c.name
          from plinth.changes c
          where c.resource = p_resource and c.type = 2
            and (c.namespace, c.name) >= (p_from_namespace, p_from_name)
            and (c.namespace, c.name) < (p_to_namespace, p_to_name)
            and (p_only_name is null or c.name = p_only_name)
            and c.resource_version > p_at
          order by c.namespace, c.name
        ) d
        cross join lateral (
          select c.uid, c.previous_version, coalesce(c.previous,
            (select b.data from plinth.changes b where b.resource_version = c.previous_version)) as previous
          from plinth.changes c
          where c.resource = p_resource and c.namespace = d.namespace and c.name = d.name
            and c.resource_version > p_at
          order by c.resource_version limit 1
        ) f
        where f.previous_version is not null
          and not exists (
            select from plinth.objects o
            where o.resource = p_resource and o.namespace = d.namespace and o.name = d.name)
        order by d.namespace, d.name limit p_limit)
      ) m
      order by m.namespace, m.name limit p_limit);
  end if;
end
$$;
