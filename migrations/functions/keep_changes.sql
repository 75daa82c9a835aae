-- One round of log upkeep. Any process may call it at any time; rounds exclude each other. Closes the current partition
-- when its first change is older than p_close_after, adds partitions ahead, raises the compact_revision over partitions
-- closed for longer than p_history, records the time of versions, deletes old fences. Returns the partitions that may
-- be dropped once this has committed. Reads the log only through other functions: their planner settings are not needed
-- for the small tables here.
create or replace function plinth.keep_changes(p_history interval, p_close_after interval, p_ahead integer)
returns table (lower bigint)
language plpgsql
set jit = off
as $$
#variable_conflict use_column
declare
  reached bigint;
  open_lower bigint;
  open_upper bigint;
  settled bigint;
  -- On a replica, the primary draws versions, and begins and closes partitions: rows of plinth.change_partitions come
  -- with the changes.
  is_replica constant boolean := (select e.replica from plinth.epoch e where e.singleton);
begin
  begin
    lock table plinth.lock_upkeep in exclusive mode nowait;
  exception when lock_not_available then
    return;
  end;
  perform plinth.note_version_time(interval '50 seconds');

  select s.last_value into reached from plinth.resource_version s;
  select p.lower, p.upper into open_lower, open_upper
    from plinth.change_partitions p where p.lower <= reached and p.upper > reached;
  if not is_replica and plinth.first_change_time(open_lower, open_upper) < clock_timestamp() - p_close_after then
    -- Under the writers' lock, no uncommitted version of the partition exists.
    lock table plinth.lock_writes in exclusive mode;
    if (select s.last_value from plinth.resource_version s) < open_upper then
      perform setval('plinth.resource_version', open_upper, false);
    end if;
    settled := open_upper;
  end if;
  if not is_replica then
    perform plinth.add_change_partitions(p_ahead);
  end if;

  -- A full partition is closed once a later version is committed, not once one is drawn.
  select greatest(settled, b.head) into settled from plinth.log_bounds() b;
  update plinth.change_partitions p set closed_at = clock_timestamp() where p.closed_at is null and p.upper <= settled;
  update plinth.retention r set
    closed = greatest(r.closed, (select max(p.upper) - 1 from plinth.change_partitions p where p.closed_at is not null)),
    compact_revision = greatest(r.compact_revision, (
      select max(p.upper) - 1 from plinth.change_partitions p where p.closed_at < clock_timestamp() - p_history));

  delete from plinth.fenced_batches f where f.fenced_at < clock_timestamp() - interval '1 hour';
  return query
    select p.lower from plinth.change_partitions p, plinth.retention r
    where p.upper - 1 <= r.compact_revision order by p.lower;
end
$$;
