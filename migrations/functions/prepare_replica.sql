-- Prepares an empty database to follow another one through a subscription that is created next. Fails when the database
-- has any objects or changes.
create or replace function plinth.prepare_replica(p_subscription name) returns void
language plpgsql
as $$
declare
  partition text;
begin
  lock table plinth.lock_writes in exclusive mode;
  if exists (select from plinth.replica r where r.subscription = p_subscription) then
    return;
  end if;
  if exists (select from plinth.replica) or exists (select from plinth.objects) or exists (select from plinth.changes) then
    raise exception 'the database is not empty: a replica needs one of its own' using errcode = '55000';
  end if;
  for partition in
    select format('plinth.%I', c.relname) from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'plinth.changes'::regclass
  loop
    execute 'drop table ' || partition;
  end loop;
  delete from plinth.change_partitions;
  drop trigger if exists follow_partition on plinth.change_partitions;
  create trigger follow_partition after insert on plinth.change_partitions
    for each row execute function plinth.follow_partition();
  -- Fires only for rows that replication brings.
  alter table plinth.change_partitions enable replica trigger follow_partition;
  update plinth.epoch e set replica = true where e.singleton;
  insert into plinth.replica (subscription) values (p_subscription);
end
$$;
