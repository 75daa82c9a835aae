-- Objects of a resource whose last write is known to be older than p_age, among the p_scan objects after the key. The
-- last row shows whether the resource ends there; if not, it has the last key that was checked. Only the data of the
-- objects found is read.
create or replace function plinth.aged_objects(
  p_resource text,
  p_age interval,
  p_after_namespace text,
  p_after_name text,
  p_scan bigint
) returns table (done boolean, namespace text, name text, uid text, resource_version bigint, data json)
language plpgsql
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set max_parallel_workers_per_gather = 0
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  noted_before constant timestamptz := clock_timestamp() - p_age;
  newest bigint;
  looked_at bigint := 0;
  object plinth.objects;
begin
  if pg_is_in_recovery() then
    raise exception 'the database is a standby; connect to the primary' using errcode = '25006';
  end if;
  select t.version into newest from plinth.version_times t
    where t.at <= noted_before order by t.at desc limit 1;
  if newest is not null then
    for object in
      select o.* from plinth.objects o
      where o.resource = p_resource and (o.namespace, o.name) > (p_after_namespace, p_after_name)
      order by o.namespace, o.name limit p_scan
    loop
      looked_at := looked_at + 1;
      if object.resource_version <= newest then
        return query
          select null::boolean, object.namespace, object.name, object.uid, object.resource_version, object.data;
      end if;
    end loop;
  end if;
  return query
    select looked_at < p_scan, object.namespace, object.name, null::text, null::bigint, null::json;
end
$$;
