-- Checks whether the history of the database is still the one on record, and the one that the calling process knows. If
-- not, repairs it and records the finding. p_seen is the newest version that the process has read or that the database
-- has reported to it, p_epoch the epoch it is in (null: it has just started).
--
-- action `same`: nothing happened. `resumed`: the database was promoted, restored or copied, and no process is known to
-- have seen a version that it lacks. Since one may have, versions continue after a gap. `reset`: versions are gone that
-- a process has seen. They continue after a gap, nothing from before can be read, and a new epoch begins. Holds
-- plinth.lock_writes: of many processes that call at once only one acts, and no version is drawn meanwhile. The wait
-- for the lock is limited as in plinth.write_batch.
create or replace function plinth.check_epoch(p_seen bigint, p_epoch bigint, p_bump bigint)
returns table (action text, epoch bigint, started bigint, head bigint, lost_after bigint, lost_until bigint,
  system_identifier bigint, timeline integer, missing bigint)
language plpgsql
set lock_timeout = '9s'
as $$
#variable_conflict use_column
declare
  known plinth.epoch;
  now_relation oid;
  now_database oid;
  now_system bigint;
  now_timeline integer;
  bounds record;
  retained plinth.retention;
  reasons text[] := '{}';
  went_back boolean;
  in_gap boolean;
  found_action text := 'same';
  new_head bigint;
  lost_count bigint := 0;
  last_kept bigint;
begin
  if pg_is_in_recovery() then
    raise exception 'the database is a standby; connect to the primary' using errcode = '25006';
  end if;
  lock table plinth.lock_writes in exclusive mode;
  select e.* into strict known from plinth.epoch e where e.singleton;
  select e.tableoid into now_relation from plinth.epoch e where e.singleton;
  select r.* into strict retained from plinth.retention r where r.singleton;
  select d.oid into now_database from pg_database d where d.datname = current_database();
  now_timeline := plinth.current_timeline();
  begin
    select c.system_identifier into now_system from pg_control_system() c;
  exception when others then
    now_system := null;
  end;
  select b.compact_revision, b.head into bounds from plinth.log_bounds() b;
  new_head := bounds.head;
  last_kept := bounds.head;

  if known.system_identifier <> now_system then reasons := reasons || 'another server'::text; end if;
  if known.timeline <> now_timeline then reasons := reasons || 'another timeline'::text; end if;
  if known.relation <> now_relation or known.database <> now_database then
    reasons := reasons || 'restored or copied'::text;
  end if;
  in_gap := p_seen > retained.lost_after and p_seen < retained.lost_until;
  went_back := p_seen > bounds.head or in_gap or p_epoch > known.epoch;

  if went_back then
    found_action := 'reset';
    if p_seen > bounds.head then
      reasons := reasons || 'versions are missing'::text;
      lost_count := p_seen - bounds.head;
    end if;
    if in_gap then reasons := reasons || 'versions were lost before'::text; end if;
    if p_epoch > known.epoch then reasons := reasons || 'the epoch went back'::text; end if;
    if not (in_gap and cardinality(reasons) = 1) then
      new_head := plinth.leap(p_seen, p_bump);
    else
      -- Versions have leapt already: only those from before that leap become unreadable.
      new_head := retained.lost_until;
      last_kept := retained.lost_after;
      lost_count := p_seen - last_kept;
    end if;
    known.epoch := greatest(known.epoch, p_epoch) + 1;
    known.started := new_head;
    update plinth.retention r
    set compact_revision = greatest(r.compact_revision, new_head), lost_after = 0, lost_until = 0
      returning r.* into retained;
  elsif cardinality(reasons) > 0 then
    found_action := 'resumed';
    new_head := plinth.leap(p_seen, p_bump);
    -- The history can't record two gaps at once: the older one goes below the compact revision.
    update plinth.retention r
    set compact_revision = greatest(r.compact_revision, r.lost_until), lost_after = bounds.head, lost_until = new_head
      returning r.* into retained;
  end if;

  if found_action <> 'same' or known.relation is null or known.timeline is null or known.system_identifier is null then
    update plinth.epoch e set
      epoch = known.epoch, started = known.started, relation = now_relation, database = now_database,
      system_identifier = coalesce(now_system, e.system_identifier), timeline = coalesce(now_timeline, e.timeline),
      highest_version = greatest(e.highest_version, new_head, p_seen), checked_at = clock_timestamp();
  end if;
  if found_action <> 'same' then
    insert into plinth.epoch_changes
      (epoch, action, reason, system_identifier, timeline, seen, continued_after, continued_at)
    values (known.epoch, found_action, array_to_string(reasons, ', '), now_system, now_timeline, p_seen, last_kept,
      new_head + 1);
    -- Wakes watches like any other change.
    perform pg_notify(known.channel, new_head::text);
  end if;
  if found_action = 'same' and p_epoch < known.epoch then
    -- Another process handled the change; this one may have lost more or fewer versions.
    select coalesce(max(p_seen - c.continued_after), 0) into lost_count from plinth.epoch_changes c
      where c.epoch > p_epoch and p_seen > c.continued_after and p_seen < c.continued_at;
  end if;
  return query select found_action, known.epoch, known.started, greatest(bounds.head, new_head), retained.lost_after,
    retained.lost_until, now_system, now_timeline, lost_count;
end
$$;
