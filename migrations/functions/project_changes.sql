-- Brings the tables of rows forward by at most p_limit changes of the log. `lost`: the log does not reach back to where
-- the tables are, or is of another history: they have to be filled again. `busy`: another process is doing this.
--
-- Does not wait for the disk, nor for a standby: rows and position are lost together where the server crashes first, and
-- are made again from the log, whose changes are safe before they can be read.
create or replace function plinth.project_changes(p_limit integer)
returns table (outcome text, "position" bigint, applied bigint)
language plpgsql
set jit = off
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  state plinth.projection;
  bounds record;
  upto bigint;
  after bigint;
  resources text[];
  found_any boolean;
  one plinth.projected_tables;
  total bigint := 0;
begin
  begin
    lock table plinth.lock_projection in exclusive mode nowait;
  exception when lock_not_available then
    return query select 'busy', null::bigint, null::bigint;
    return;
  end;
  if not exists (select from plinth.projected_tables) then
    return query select 'idle', null::bigint, 0::bigint;
    return;
  end if;
  perform set_config('synchronous_commit', 'off', true);
  select p.* into state from plinth.projection p where p.singleton;
  select b.compact_revision, b.head into bounds from plinth.log_bounds() b;
  if state.position is null or state.epoch <> (select e.epoch from plinth.epoch e where e.singleton)
    or bounds.compact_revision > state.position or bounds.head < state.position then
    return query select 'lost', state.position, null::bigint;
    return;
  end if;
  -- When no change is left, everything up to the head is shown: the head rises without a change when a partition is
  -- closed.
  select coalesce(max(c.resource_version), bounds.head), array_agg(distinct c.resource) filter (where not c.is_quiet),
      count(*) > 0
    into upto, resources, found_any from (
      select x.resource_version, x.resource, x.quiet is not null and (x.resource, x.quiet) in (
        select t.resource, t.quiet from plinth.projected_tables t where t.quiet is not null) as is_quiet
      from plinth.changes x
      where x.resource_version > state.position order by x.resource_version limit p_limit) c;
  -- A table that was filled lately has a position of its own, before or after that of the others.
  for one in
    select t.* from plinth.projected_tables t where t.resource = any (resources) or t.own_position is not null
  loop
    after := coalesce(one.own_position, state.position);
    if after < upto then total := total + plinth.project_some(one, after, upto); end if;
    if one.own_position <= upto then
      update plinth.projected_tables t set own_position = null where t.resource = one.resource;
    end if;
  end loop;
  if upto > state.position then
    update plinth.projection p set position = upto where p.singleton;
  end if;
  return query select case when found_any then 'moved' else 'idle' end, upto, total;
end
$$;
