-- How many objects of the range existed at version p_at: the present ones, less those created since, plus those deleted
-- since. OFFSET 0 keeps the planner from reading the log by key: by version, only later changes are read.
create or replace function plinth.count_objects(
  p_resource text,
  p_from_namespace text,
  p_from_name text,
  p_to_namespace text,
  p_to_name text,
  p_only_name text,
  p_at bigint
) returns bigint
language plpgsql
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
as $$
begin
  -- Sessions with a read replica say so: they must not read from anything else, such as a replica that was promoted.
  if pg_is_in_recovery() <> (coalesce(current_setting('plinth.reads_standby', true), '') = 'on') then
    raise exception '%', case when pg_is_in_recovery() then 'the database is a standby; connect to the primary'
      else 'the database is no standby any more' end using errcode = '25006';
  end if;
  return (
    select count(*) from plinth.objects o
    where o.resource = p_resource
      and (o.namespace, o.name) >= (p_from_namespace, p_from_name)
      and (o.namespace, o.name) < (p_to_namespace, p_to_name)
      and (p_only_name is null or o.name = p_only_name)
  ) + (
    select count(*) filter (where c.type = 2) - count(*) filter (where c.type = 0)
    from (
      select x.resource, x.namespace, x.name, x.type
      from plinth.changes x where x.resource_version > p_at order by x.resource_version offset 0
    ) c
    where c.resource = p_resource
      and (c.namespace, c.name) >= (p_from_namespace, p_from_name)
      and (c.namespace, c.name) < (p_to_namespace, p_to_name)
      and (p_only_name is null or c.name = p_only_name)
  );
end
$$;
