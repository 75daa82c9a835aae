-- Drops the partitions of days before p_before (UTC); returns how many. Waits for readers only for a short time.
create or replace function plinth.drop_audit_partitions(p_before date) returns integer
language plpgsql as $$
declare
  partition name;
  dropped integer := 0;
begin
  lock table plinth.lock_audit in exclusive mode;
  perform set_config('lock_timeout', '2s', true);
  for partition in
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'plinth.audit_events'::regclass and c.relname ~ '^audit_\d{8}$'
      and to_date(right(c.relname, 8), 'YYYYMMDD') < p_before
    order by 1
  loop
    begin
      execute format('drop table plinth.%I', partition);
      dropped := dropped + 1;
    exception when lock_not_available then
      -- A later round drops the others.
      return dropped;
    end;
  end loop;
  return dropped;
end
$$;
