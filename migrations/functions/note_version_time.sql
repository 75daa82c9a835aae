-- Records that every version up to the head exists at this time, unless that was recorded within p_every. Deletes
-- records older than a month, or than the history if that is kept for longer.
create or replace function plinth.note_version_time(p_every interval) returns void
language plpgsql
set jit = off
set enable_seqscan = off
as $$
declare
  -- Variables, because PostgreSQL searches no index for a value that changes while the statement runs.
  recent constant timestamptz := clock_timestamp() - p_every;
  forgotten constant timestamptz := clock_timestamp() - greatest(interval '32 days',
    (select s.retention + interval '1 day' from plinth.history_state s where s.singleton));
begin
  if not exists (select from plinth.version_times t where t.at > recent) then
    insert into plinth.version_times (at, version) select clock_timestamp(), b.head from plinth.log_bounds() b
      on conflict do nothing;
    delete from plinth.version_times t where t.at < forgotten;
  end if;
end
$$;
