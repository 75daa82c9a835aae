-- Ends sessions that hold the writers' lock and have waited for their client for longer than p_silence: until it reads
-- its answer, or sends the end of its call. A process that stands still, or was cut off, would otherwise keep all
-- others from writing for as long as its sockets live. Its writes are rolled back, and it learns of this when it
-- continues. A transaction that somebody has opened on purpose is not affected: its session is idle. Returns how many
-- sessions were ended.
--
-- Ends only sessions of the same role: the caller may not see or end others.
create or replace function plinth.free_writers(p_silence interval) returns bigint
language plpgsql
set jit = off
as $$
begin
  return (
    select count(*) filter (where pg_terminate_backend(a.pid))
    from pg_locks l join pg_stat_activity a on a.pid = l.pid
    where l.relation = 'plinth.lock_writes'::regclass
      and l.database = (select d.oid from pg_database d where d.datname = current_database()) and l.granted
      and a.usename = current_user and a.state = 'active' and a.wait_event_type = 'Client'
      and a.state_change < clock_timestamp() - p_silence);
end
$$;
