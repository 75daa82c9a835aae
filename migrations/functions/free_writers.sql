-- Ends sessions that hold the writers' lock and wait for their client for longer than p_silence: for it to read its answer,
-- or to send the end of its call. A process that stands still, or was cut off, would otherwise keep all others from writing,
-- for as long as its sockets live. Its writes are rolled back, and it learns that when it goes on. A transaction that somebody
-- has opened on purpose is not meant: its session is idle in it. Returns how many were ended.
--
-- Only sessions of the same role: the others may not be seen or ended.
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
