-- The time of the first change with a version in [p_from, p_to).
create or replace function plinth.first_change_time(p_from bigint, p_to bigint) returns timestamptz
language plpgsql
set jit = off
set enable_seqscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
as $$
begin
  return (
    select c.at from plinth.changes c where c.resource_version >= p_from and c.resource_version < p_to
    order by c.resource_version limit 1);
end
$$;
