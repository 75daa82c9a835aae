-- The two ends of the log in one snapshot: versions below compact_revision are lost, head is the newest committed one.
create or replace function plinth.log_bounds() returns table (compact_revision bigint, head bigint)
language plpgsql
set jit = off
set enable_seqscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  -- Sessions with a read replica say so: they must not read from anything else, such as a replica that was promoted.
  if pg_is_in_recovery() <> (coalesce(current_setting('plinth.reads_standby', true), '') = 'on') then
    raise exception '%', case when pg_is_in_recovery() then 'the database is a standby; connect to the primary'
      else 'the database is no standby any more' end using errcode = '25006';
  end if;
  return query select r.compact_revision, greatest(r.closed, (
      select c.resource_version from plinth.changes c where c.resource_version > (select x.closed from plinth.retention x where x.singleton)
      order by c.resource_version desc limit 1))
    from plinth.retention r where r.singleton;
end
$$;
