-- One round of history upkeep. p_retention: how long the history is kept; zero: this process does not keep it. Since
-- processes may be started with other settings by mistake, the history is only given up when no process has requested
-- it for an hour. p_excluded: resources that are left out. Returns the partitions of plinth.history that may be dropped
-- once this has committed.
create or replace function plinth.keep_history(p_retention interval, p_excluded text[]) returns table (lower bigint)
language plpgsql
set jit = off
as $$
#variable_conflict use_column
declare
  state plinth.history_state;
  present bigint[];
begin
  begin
    lock table plinth.lock_history in exclusive mode nowait;
  exception when lock_not_available then
    return;
  end;
  select s.* into state from plinth.history_state s where s.singleton;
  select coalesce(array_agg(p.lower order by p.lower), '{}') into present from plinth.change_partitions p
    where state.upto is null or p.lower >= state.upto;
  if p_retention > interval '0' then
    if state.upto is null then
      -- Nothing has to be copied: the log has the state of an object before each change.
      insert into plinth.history_state (retention, confirmed_at, floor, upto, pending)
        select p_retention, clock_timestamp(), b.compact_revision, present[1], present from plinth.log_bounds() b
        returning * into state;
    else
      update plinth.history_state s set retention = p_retention, confirmed_at = clock_timestamp() where s.singleton
        returning * into state;
    end if;
    insert into plinth.history_exclusions (resource) select distinct r from unnest(p_excluded) r
      on conflict (resource) do update set included_from = null;
    update plinth.history_exclusions x set included_from = state.upto - 1
      where x.included_from is null and x.resource <> all (p_excluded);
  elsif state.confirmed_at < clock_timestamp() - interval '1 hour' then
    delete from plinth.history_state;
    delete from plinth.history_exclusions;
    state := null;
  end if;
  if state.upto is null then
    return query select p.lower from plinth.history_partitions p order by p.lower;
    return;
  end if;
  -- A process of an older release dropped a partition of the log, which has not been copied: the history begins after
  -- it.
  if not state.pending <@ present then
    update plinth.history_state s set upto = present[1], floor = greatest(s.floor, b.compact_revision)
      from plinth.log_bounds() b where s.singleton;
  end if;
  update plinth.history_state s set pending = present, floor = greatest(s.floor, (
      select max(p.upper) - 1 from plinth.history_partitions p where p.last_at < clock_timestamp() - s.retention))
    where s.singleton
    returning * into state;
  delete from plinth.history_exclusions x where x.included_from <= state.floor;
  return query select p.lower from plinth.history_partitions p where p.upper - 1 <= state.floor order by p.lower;
end
$$;
