-- Every kept change of one object, the oldest first, with the state before it.
create or replace function plinth.key_changes(p_resource text, p_namespace text, p_name text)
returns table (resource_version bigint, type smallint, uid text, data json, previous json, previous_version bigint,
  at timestamptz)
language plpgsql
set jit = off
set enable_seqscan = off
set max_parallel_workers_per_gather = 0
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
    with copied as materialized (
      select coalesce((select s.upto from plinth.history_state s where s.singleton), 0) as upto,
        (select b.floor from plinth.past_bounds(p_resource) b) as floor
    )
    select h.resource_version, h.type, h.uid, h.data, case
        when h.previous is null and h.previous_version is not null
          then (select b.data from plinth.history b where b.resource_version = h.previous_version)
        else h.previous
      end, h.previous_version, h.at
    from plinth.history h
    where h.resource = p_resource and h.namespace = p_namespace and h.name = p_name
      and h.resource_version > (select c.floor from copied c) and h.resource_version < (select c.upto from copied c)
    union all
    select c.resource_version, c.type, c.uid, c.data, coalesce(c.previous,
      (select b.data from plinth.changes b where b.resource_version = c.previous_version)), c.previous_version, c.at
    from plinth.changes c
    where c.resource = p_resource and c.namespace = p_namespace and c.name = p_name
      and c.resource_version > (select x.floor from copied x) and c.resource_version >= (select x.upto from copied x)
    order by 1;
end
$$;
