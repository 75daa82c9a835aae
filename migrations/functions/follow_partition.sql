-- On a replica, called for each new row of plinth.change_partitions: creates the next partition of the log, which must
-- exist before its first change. Runs with the rights of the owner, whichever role applies the changes.
create or replace function plinth.follow_partition() returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  partition constant text := 'changes_' || new.lower;
begin
  lock table plinth.lock_partitions in exclusive mode;
  if to_regclass(format('plinth.%I', partition)) is null then
    execute format(
      'create table plinth.%I (like plinth.changes including defaults including storage including compression)'
      ' with (autovacuum_enabled = off)', partition);
    execute format('alter table plinth.changes attach partition plinth.%I for values from (%s) to (%s)',
      partition, new.lower, new.upper);
  end if;
  return null;
end
$$;
