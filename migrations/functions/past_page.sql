-- Like plinth.list_page at a version, over the history and the log: the first row only has floor and head; the page is
-- meaningless unless floor <= p_at <= head. It has the present objects, and those changed or deleted since in the state
-- before their first change after p_at. The row of that change has this state, or else the row of its previous version
-- does.
--
-- Volatile for the same reason as plinth.list_page: partitions of the log are copied to the history and then dropped.
create or replace function plinth.past_page(
  p_resource text,
  p_from_namespace text,
  p_from_name text,
  p_to_namespace text,
  p_to_name text,
  p_only_name text,
  p_at bigint,
  p_limit bigint
) returns table (floor bigint, head bigint, namespace text, name text, uid text, resource_version bigint, data json)
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
declare
  bounds record;
begin
  select b.floor, b.head into bounds from plinth.past_bounds(p_resource) b;
  -- Versions of a gap were never committed in this history of the database, but may have been in one that was lost.
  select greatest(bounds.floor, max(e.continued_at) - 1) as floor, bounds.head into bounds
    from plinth.epoch_changes e where p_at > e.continued_after and p_at < e.continued_at - 1;
  return query select bounds.floor, bounds.head, null::text, null::text, null::text, null::bigint, null::json;
  if p_at < bounds.floor or p_at > bounds.head then
    return;
  end if;
  return query
    with copied as materialized (
      select coalesce((select s.upto from plinth.history_state s where s.singleton), 0) as upto
    )
    select null::bigint, null::bigint, m.namespace, m.name, m.uid, m.resource_version,
      case when m.data is null then coalesce(
        (select h.data from plinth.history h where h.resource_version = m.resource_version),
        (select c.data from plinth.changes c where c.resource_version = m.resource_version)) else m.data end
    from (
      (select o.namespace, o.name,
        case when o.resource_version <= p_at then o.uid else f.uid end as uid,
        case when o.resource_version <= p_at then o.resource_version else f.previous_version end as resource_version,
        case when o.resource_version <= p_at then o.data else f.previous end as data
      from plinth.objects o
      -- Changes in the history come before those in the log, which are only read where the history has none.
      left join lateral (
        select h.resource_version, h.uid, h.previous_version, h.previous
        from plinth.history h
        where o.resource_version > p_at and h.resource = p_resource and h.namespace = o.namespace
          and h.name = o.name and h.resource_version > p_at
          and h.resource_version < (select c.upto from copied c)
        order by h.resource_version limit 1
      ) h on true
      left join lateral (
        select c.resource_version, c.uid, c.previous_version, c.previous
        from plinth.changes c
        where h.resource_version is null and o.resource_version > p_at and c.resource = p_resource
          and c.namespace = o.namespace and c.name = o.name and c.resource_version > p_at
          and c.resource_version >= (select c.upto from copied c)
        order by c.resource_version limit 1
      ) c on true
      cross join lateral (
        select case when h.resource_version is null then c.uid else h.uid end as uid,
          case when h.resource_version is null then c.previous_version else h.previous_version end as previous_version,
          case when h.resource_version is null then c.previous else h.previous end as previous
      ) f
      where o.resource = p_resource
        and (o.namespace, o.name) >= (p_from_namespace, p_from_name)
        and (o.namespace, o.name) < (p_to_namespace, p_to_name)
        and (p_only_name is null or o.name = p_only_name)
        and (o.resource_version <= p_at or f.previous_version is not null)
      order by o.namespace, o.name limit p_limit)
      union all
      (select d.namespace, d.name, f.uid, f.previous_version, f.previous
      from (
        select h.namespace, h.name from plinth.history h
        where h.resource = p_resource and h.type = 2
          and (h.namespace, h.name) >= (p_from_namespace, p_from_name)
          and (h.namespace, h.name) < (p_to_namespace, p_to_name)
          and (p_only_name is null or h.name = p_only_name)
          and h.resource_version > p_at and h.resource_version < (select c.upto from copied c)
        union
        select c.namespace, c.name from plinth.changes c
        where c.resource = p_resource and c.type = 2
          and (c.namespace, c.name) >= (p_from_namespace, p_from_name)
          and (c.namespace, c.name) < (p_to_namespace, p_to_name)
          and (p_only_name is null or c.name = p_only_name)
          and c.resource_version > p_at and c.resource_version >= (select c.upto from copied c)
      ) d
      cross join lateral (
        select e.uid, e.previous_version, e.previous from (
          (select h.resource_version, h.uid, h.previous_version, h.previous
          from plinth.history h
          where h.resource = p_resource and h.namespace = d.namespace and h.name = d.name
            and h.resource_version > p_at and h.resource_version < (select c.upto from copied c)
          order by h.resource_version limit 1)
          union all
          (select c.resource_version, c.uid, c.previous_version, c.previous
          from plinth.changes c
          where c.resource = p_resource and c.namespace = d.namespace and c.name = d.name
            and c.resource_version > p_at and c.resource_version >= (select c.upto from copied c)
          order by c.resource_version limit 1)
        ) e order by e.resource_version limit 1
      ) f
      where f.previous_version is not null
        and not exists (
          select from plinth.objects o
          where o.resource = p_resource and o.namespace = d.namespace and o.name = d.name)
      order by d.namespace, d.name limit p_limit)
    ) m
    order by m.namespace, m.name limit p_limit;
end
$$;
