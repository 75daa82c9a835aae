-- Fails when a write would fail: on a standby, in a read-only database, or while another transaction holds the writers'
-- lock for longer than a write should have to wait. Writes nothing.
create or replace function plinth.check_writes() returns void
language plpgsql
set lock_timeout = '3s'
as $$
begin
  if pg_is_in_recovery() or current_setting('transaction_read_only') = 'on'
    or exists (select from plinth.epoch e where e.singleton and e.replica) then
    raise exception 'the database takes no writes' using errcode = '25006';
  end if;
  lock table plinth.lock_writes in exclusive mode;
end
$$;
