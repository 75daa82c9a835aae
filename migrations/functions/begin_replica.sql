-- Returns whether the replica can be read: once all tables have been copied and show the same moment. From then on its
-- own log has everything that the log of the primary had at the time of the copy, and everything since.
create or replace function plinth.begin_replica() returns boolean
language plpgsql
as $$
declare
  state plinth.replica;
begin
  select r.* into state from plinth.replica r where r.singleton;
  if not found then
    return false;
  end if;
  if state.begun_at is not null then
    return true;
  end if;
  -- A table that is still to be subscribed to has no row here.
  if exists (
      select from unnest('{plinth.objects, plinth.changes, plinth.change_partitions}'::regclass[]) t (relation)
      where not exists (
        select from pg_subscription_rel s join pg_subscription n on n.oid = s.srsubid
        where n.subname = state.subscription and s.srrelid = t.relation and s.srsubstate = 'r')
    ) then
    return false;
  end if;
  update plinth.retention r set
    closed = greatest(r.closed, (select max(p.upper) - 1 from plinth.change_partitions p where p.closed_at is not null)),
    compact_revision = greatest(r.compact_revision, coalesce(
      (select min(c.resource_version) - 1 from plinth.changes c), (select max(o.resource_version) from plinth.objects o)));
  update plinth.replica r set begun_at = clock_timestamp() where r.singleton;
  return true;
end
$$;
