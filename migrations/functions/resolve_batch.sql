-- Settles the outcome of a batch whose answer was lost: waits for it if it still runs, forbids it to run later, and
-- returns its writes (nothing if it did not commit). The wait for the lock is limited as in plinth.write_batch. Fails
-- (PL004) when the log no longer reaches back that far, so that the outcome is not known: the caller stood still for
-- minutes.
create or replace function plinth.resolve_batch(p_batch bigint, p_after bigint)
returns table (version bigint, resource text, namespace text, name text)
language plpgsql
set jit = off
set lock_timeout = '9s'
set enable_seqscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  lock table plinth.lock_writes in exclusive mode;
  insert into plinth.fenced_batches (batch) values (p_batch) on conflict do nothing;
  return query select c.resource_version, c.resource, c.namespace, c.name
    from plinth.changes c where c.resource_version > p_after and c.batch = p_batch order by c.resource_version;
  if not found and not exists (select from plinth.change_partitions p where p.lower <= p_after) then
    raise exception 'the log no longer shows whether batch % was committed', p_batch using errcode = 'PL004';
  end if;
end
$$;
