-- Called for each partition of the log, in their order, before it is dropped. Returns true when the partition may be
-- dropped: with the history switched on, its changes are now in plinth.history; without, nothing was done. Returns
-- false when another process is copying, or an earlier partition has to be copied first.
create or replace function plinth.copy_to_history(p_lower bigint) returns boolean
language plpgsql
set jit = off
set max_parallel_workers_per_gather = 0
as $$
declare
  state plinth.history_state;
  source plinth.change_partitions;
  partition constant text := 'history_' || p_lower;
  newest timestamptz;
begin
  begin
    lock table plinth.lock_history in exclusive mode nowait;
  exception when lock_not_available then
    return false;
  end;
  select s.* into state from plinth.history_state s where s.singleton;
  if not found or p_lower < state.upto then
    return true;
  end if;
  select p.* into source from plinth.change_partitions p where p.lower = p_lower;
  if not found then
    return true;
  end if;
  if exists (select from plinth.change_partitions p where p.lower >= state.upto and p.lower < p_lower) then
    return false;
  end if;
  execute format(
    'create table plinth.%I (like plinth.history including defaults including storage including compression)', partition);
  execute format($q$
    insert into plinth.%1$I (resource_version, type, resource, namespace, name, uid, data, previous, previous_version, at)
    select c.resource_version, c.type, c.resource, c.namespace, c.name, c.uid, c.data,
      case when c.previous_version < %2$s then c.previous end, c.previous_version, c.at
    from plinth.changes c
    where c.resource_version >= %2$s and c.resource_version < %3$s
      and c.resource not in (select x.resource from plinth.history_exclusions x where x.included_from is null)
    order by c.resource_version
  $q$, partition, source.lower, source.upper);
  execute format('select max(h.at) from plinth.%I h', partition) into newest;
  if newest is null then
    execute format('drop table plinth.%I', partition);
  else
    -- Built before it is attached, so that readers of the history are not held up.
    execute format('alter table plinth.%1$I add primary key (resource_version), '
      'add check (resource_version >= %2$s and resource_version < %3$s)', partition, source.lower, source.upper);
    execute format('create index on plinth.%I (resource, namespace, name, resource_version)', partition);
    execute format('create index on plinth.%I (resource, namespace, name, resource_version) where type = 2', partition);
    execute format('analyze plinth.%I', partition);
    execute format('revoke all on plinth.%I from public', partition);
    execute format('alter table plinth.history attach partition plinth.%I for values from (%s) to (%s)', partition,
      source.lower, source.upper);
    insert into plinth.history_partitions (lower, upper, last_at) values (source.lower, source.upper, newest);
  end if;
  update plinth.history_state s set upto = source.upper, pending = array_remove(s.pending, p_lower) where s.singleton;
  return true;
end
$$;
