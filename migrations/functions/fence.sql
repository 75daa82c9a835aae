-- Resets the history for an operator after a restore, whatever is on record. Returns the epoch, and the head before and
-- after.
create or replace function plinth.fence(p_bump bigint)
returns table (epoch bigint, before bigint, head bigint)
language plpgsql
as $$
#variable_conflict use_column
declare
  bounds record;
  new_head bigint;
  new_epoch bigint;
begin
  if pg_is_in_recovery() then
    raise exception 'the database is a standby; connect to the primary' using errcode = '25006';
  end if;
  lock table plinth.lock_writes in exclusive mode;
  select b.compact_revision, b.head into bounds from plinth.log_bounds() b;
  new_head := plinth.leap(null, p_bump);
  update plinth.retention r set compact_revision = greatest(r.compact_revision, new_head), lost_after = 0, lost_until = 0;
  update plinth.epoch e set
    epoch = e.epoch + 1, started = new_head, relation = e.tableoid,
    database = (select d.oid from pg_database d where d.datname = current_database()),
    timeline = plinth.current_timeline(), system_identifier = null,
    highest_version = greatest(e.highest_version, new_head), checked_at = clock_timestamp()
    returning e.epoch into new_epoch;
  insert into plinth.epoch_changes (epoch, action, reason, timeline, continued_after, continued_at)
    values (new_epoch, 'fenced', 'asked for', plinth.current_timeline(), bounds.head, new_head + 1);
  perform pg_notify(e.channel, new_head::text) from plinth.epoch e where e.singleton;
  return query select new_epoch, bounds.head, new_head;
end
$$;
