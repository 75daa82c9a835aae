-- Lets versions continue after a gap. Raises the sequence to the beginning of a partition more than p_bump beyond every
-- version that the database or p_seen knows, and the head with it. The caller holds plinth.lock_writes. Returns the new
-- head.
create or replace function plinth.leap(p_seen bigint, p_bump bigint) returns bigint
language plpgsql
as $$
declare
  width constant bigint := 1 << 20;
  beyond numeric;
  start bigint;
begin
  -- On a replica, the primary draws the versions.
  if exists (select from plinth.epoch e where e.singleton and e.replica) then
    select b.head into start from plinth.log_bounds() b;
    return start;
  end if;
  select greatest(s.last_value, p_seen, e.highest_version) into beyond from plinth.resource_version s, plinth.epoch e;
  beyond := (div(beyond + p_bump, width) + 1) * width;
  -- This limit is far from the end of bigint, which leaves room for later leaps.
  if beyond > 9000000000000000000 then
    raise exception 'version % is too close to the largest possible one', beyond using errcode = '22003';
  end if;
  start := beyond;
  perform setval('plinth.resource_version', start, false);
  perform plinth.add_change_partitions(3);
  update plinth.change_partitions p set closed_at = clock_timestamp() where p.closed_at is null and p.upper <= start;
  update plinth.retention r set closed = start - 1;
  return start - 1;
end
$$;
