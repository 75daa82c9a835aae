-- The newest version at a time. Fails for a time in the future, or before the history.
create or replace function cluster.version_at(moment timestamptz) returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  bounds record;
  noted bigint;
  noted_after bigint;
  first_after bigint;
  first_at timestamptz;
  copied bigint;
  -- It is not known yet which versions between these two are later than the moment.
  below bigint;
  above bigint;
  middle bigint;
  change record;
begin
  if moment is null then
    return null;
  end if;
  if moment > clock_timestamp() then
    raise exception '% is in the future', moment using errcode = '22023';
  end if;
  select b.floor, b.head into bounds from plinth.past_bounds(null) b;
  -- Times are recorded once a minute; only the changes between two records are read.
  select t.version into noted from plinth.version_times t where t.at <= moment order by t.at desc limit 1;
  select t.version into noted_after from plinth.version_times t where t.at > moment order by t.at limit 1;
  select coalesce((select s.upto from plinth.history_state s where s.singleton), 0) into copied;
  -- Times rise with versions: a binary search finds the first change after the moment, in at most 40 steps.
  below := greatest(noted, bounds.floor);
  above := coalesce(noted_after, bounds.head) + 1;
  while above - below > 1 loop
    middle := below + (above - below - 1) / 2;
    select e.resource_version, e.at into change from (
      (select h.resource_version, h.at from plinth.history h
      where h.resource_version > middle and h.resource_version < least(above, copied)
      order by h.resource_version limit 1)
      union all
      (select c.resource_version, c.at from plinth.changes c
      where c.resource_version > middle and c.resource_version >= copied and c.resource_version < above
      order by c.resource_version limit 1)
    ) e order by e.resource_version limit 1;
    if change.at <= moment then
      below := change.resource_version;
    else
      first_after := coalesce(change.resource_version, first_after);
      above := middle + 1;
    end if;
  end loop;
  if noted is null or noted < bounds.floor then
    -- Only the kept changes show whether the moment lies within the history.
    select min(e.at) into first_at from (
      (select h.at from plinth.history h where h.resource_version > bounds.floor and h.resource_version < copied
      order by h.resource_version limit 1)
      union all
      (select c.at from plinth.changes c where c.resource_version > bounds.floor and c.resource_version >= copied
      order by c.resource_version limit 1)
    ) e;
    if first_at is null then
      select min(t.at) into first_at from plinth.version_times t where t.at > moment;
    end if;
    if first_at > moment then
      raise exception 'no state of % is recorded: the history begins at %', moment, first_at using errcode = '22023';
    end if;
  end if;
  return coalesce(first_after - 1, least(noted_after, bounds.head));
end
$$;
