-- What keeps versions from being handed out twice after a fail-over or a restore, and when versions were reached.
--
-- Every read and write refuses to work on a standby (SQLSTATE 25006). A write names the epoch it believes to be in; it
-- is refused (PL003) when the database is in another one, or when the database was promoted, restored or copied since
-- somebody checked: its timeline or the table plinth.epoch itself then differs from what is on record.

-- relation, database: their object identifiers; a restored dump has new ones. started: first readable version of the
-- epoch.
alter table plinth.epoch
  add column relation oid,
  add column database oid,
  add column started bigint not null default 1;

-- Versions strictly between the two were never committed in this history, but may have been in one that was lost: the
-- sequence jumped over them. Nothing can be read at one of them.
alter table plinth.retention
  add column lost_after bigint not null default 0,
  add column lost_until bigint not null default 0;

-- Every time the history of the database was found to go on elsewhere. seen: newest version that who found out had
-- seen; continued_after: newest version of the database then; continued_at: from where versions go on.
create table plinth.epoch_changes (
  id bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  epoch bigint not null,
  action text not null,
  reason text not null,
  system_identifier bigint,
  timeline integer,
  seen bigint,
  continued_after bigint not null,
  continued_at bigint not null
);

-- At that time every version up to this one was committed: tells the age of objects longer than the log does.
create table plinth.version_times (
  at timestamptz primary key,
  version bigint not null
);

revoke all on plinth.epoch_changes, plinth.version_times from public;

-- The timeline being written, as its eight hexadecimal digits; null where the server does not tell.
create function plinth.current_timeline() returns integer
language plpgsql
as $$
begin
  return ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::integer;
exception when others then
  return null;
end
$$;

-- Makes sure that p_ahead partitions lie ahead of the sequence. A range that the sequence has jumped over gets none.
create or replace function plinth.add_change_partitions(p_ahead integer) returns void
language plpgsql as $$
declare
  width constant bigint := 1 << 20;
  reached bigint;
  next_lower bigint;
  partition text;
begin
  perform pg_advisory_xact_lock(7811071, 2);
  select s.last_value into reached from plinth.resource_version s;
  select coalesce(max(p.upper), 0) into next_lower from plinth.change_partitions p;
  next_lower := greatest(next_lower, reached / width * width);
  while next_lower <= reached + p_ahead * width loop
    partition := 'changes_' || next_lower;
    execute format(
      'create table plinth.%I (like plinth.changes including defaults including storage including compression)'
      ' with (autovacuum_enabled = off)', partition);
    execute format('alter table plinth.changes attach partition plinth.%I for values from (%s) to (%s)',
      partition, next_lower, next_lower + width);
    insert into plinth.change_partitions (lower, upper) values (next_lower, next_lower + width);
    next_lower := next_lower + width;
  end loop;
end
$$;

-- Lets versions go on behind a gap: raises the sequence to the beginning of a partition more than p_bump beyond
-- everything the database or p_seen knows, and the head with it. The caller holds the lock of the writers. Returns the
-- new head.
create function plinth.leap(p_seen bigint, p_bump bigint) returns bigint
language plpgsql
as $$
declare
  width constant bigint := 1 << 20;
  beyond numeric;
  start bigint;
begin
  select greatest(s.last_value, p_seen, e.highest_version) into beyond from plinth.resource_version s, plinth.epoch e;
  beyond := (div(beyond + p_bump, width) + 1) * width;
  -- Far from the end of bigint, so that later leaps have room.
  if beyond > 9000000000000000000 then
    raise exception 'version % leaves no room for further ones', beyond using errcode = '22003';
  end if;
  start := beyond;
  perform setval('plinth.resource_version', start, false);
  perform plinth.add_change_partitions(3);
  update plinth.change_partitions p set closed_at = clock_timestamp() where p.closed_at is null and p.upper <= start;
  update plinth.retention r set closed = start - 1;
  return start - 1;
end
$$;

-- Finds out whether the history of the database is still the one on record and, to a process, the one it knows; makes
-- it sound if not, and records what was found. For a process that (re)connects: p_seen is the newest version it has
-- read or was told of, p_epoch the epoch it is in (null: it has just started).
--
-- action `same`: nothing happened. `resumed`: the database was promoted, restored or copied, and nobody is known to
-- have seen a version that it lacks; since somebody may have, versions go on behind a gap. `reset`: versions are gone
-- that somebody has seen: they go on behind a gap, nothing from before can be read, and a new epoch begins.
-- Takes the lock of the writers, so of many processes that ask at once one acts, and no version is drawn meanwhile.
create function plinth.check_epoch(p_seen bigint, p_epoch bigint, p_bump bigint)
returns table (action text, epoch bigint, started bigint, head bigint, lost_after bigint, lost_until bigint,
  system_identifier bigint, timeline integer, missing bigint)
language plpgsql
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
  perform pg_advisory_xact_lock(7811071, 1);
  select e.* into strict known from plinth.epoch e;
  select e.tableoid into now_relation from plinth.epoch e;
  select r.* into strict retained from plinth.retention r;
  select d.oid into now_database from pg_database d where d.datname = current_database();
  now_timeline := plinth.current_timeline();
  begin
    select c.system_identifier into now_system from pg_control_system() c;
  exception when others then
    now_system := null;
  end;
  select b.floor, b.head into bounds from plinth.log_bounds() b;
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
      -- Somebody leapt already; only what was before has to go.
      new_head := retained.lost_until;
      last_kept := retained.lost_after;
      lost_count := p_seen - last_kept;
    end if;
    known.epoch := greatest(known.epoch, p_epoch) + 1;
    known.started := new_head;
    update plinth.retention r set floor = greatest(r.floor, new_head), lost_after = 0, lost_until = 0
      returning r.* into retained;
  elsif cardinality(reasons) > 0 then
    found_action := 'resumed';
    new_head := plinth.leap(p_seen, p_bump);
    -- Two gaps within the history can't both be told apart from it: the older one goes below the floor.
    update plinth.retention r set floor = greatest(r.floor, r.lost_until), lost_after = bounds.head, lost_until = new_head
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
    -- Watches hear of it as of any change.
    perform pg_notify('plinth_changes', new_head::text);
  end if;
  if found_action = 'same' and p_epoch < known.epoch then
    -- Another process saw to it; this one may have lost more or less.
    select coalesce(max(p_seen - c.continued_after), 0) into lost_count from plinth.epoch_changes c
      where c.epoch > p_epoch and p_seen > c.continued_after and p_seen < c.continued_at;
  end if;
  return query select found_action, known.epoch, known.started, greatest(bounds.head, new_head), retained.lost_after,
    retained.lost_until, now_system, now_timeline, lost_count;
end
$$;

-- What an operator does after a restore: a reset whatever is on record. Returns the new head and the epoch.
create function plinth.fence(p_bump bigint)
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
  perform pg_advisory_xact_lock(7811071, 1);
  select b.floor, b.head into bounds from plinth.log_bounds() b;
  new_head := plinth.leap(null, p_bump);
  update plinth.retention r set floor = greatest(r.floor, new_head), lost_after = 0, lost_until = 0;
  update plinth.epoch e set
    epoch = e.epoch + 1, started = new_head, relation = e.tableoid,
    database = (select d.oid from pg_database d where d.datname = current_database()),
    timeline = plinth.current_timeline(), system_identifier = null,
    highest_version = greatest(e.highest_version, new_head), checked_at = clock_timestamp()
    returning e.epoch into new_epoch;
  insert into plinth.epoch_changes (epoch, action, reason, timeline, continued_after, continued_at)
    values (new_epoch, 'fenced', 'asked for', plinth.current_timeline(), bounds.head, new_head + 1);
  perform pg_notify('plinth_changes', new_head::text);
  return query select new_epoch, bounds.head, new_head;
end
$$;

-- Notes that every version up to the head is as old as now, unless that was noted within p_every; forgets notes of
-- more than a month ago.
create function plinth.note_version_time(p_every interval) returns void
language plpgsql
set enable_seqscan = off
as $$
begin
  if not exists (select from plinth.version_times t where t.at > clock_timestamp() - p_every) then
    insert into plinth.version_times (at, version) select clock_timestamp(), b.head from plinth.log_bounds() b
      on conflict do nothing;
    delete from plinth.version_times t where t.at < clock_timestamp() - interval '32 days';
  end if;
end
$$;

-- Objects of a resource whose last write is known to be older than p_age, of the p_scan ones behind the key. The last
-- row tells whether that is all of the resource, else the last key looked at. Data are only touched of what is found.
create function plinth.aged_objects(
  p_resource text,
  p_age interval,
  p_after_namespace text,
  p_after_name text,
  p_scan bigint
) returns table (done boolean, namespace text, name text, uid text, resource_version bigint, data json)
language plpgsql
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set max_parallel_workers_per_gather = 0
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  newest bigint;
  looked_at bigint := 0;
  object plinth.objects;
begin
  if pg_is_in_recovery() then
    raise exception 'the database is a standby; connect to the primary' using errcode = '25006';
  end if;
  select t.version into newest from plinth.version_times t
    where t.at <= clock_timestamp() - p_age order by t.at desc limit 1;
  if newest is not null then
    for object in
      select o.* from plinth.objects o
      where o.resource = p_resource and (o.namespace, o.name) > (p_after_namespace, p_after_name)
      order by o.namespace, o.name limit p_scan
    loop
      looked_at := looked_at + 1;
      if object.resource_version <= newest then
        return query
          select null::boolean, object.namespace, object.name, object.uid, object.resource_version, object.data;
      end if;
    end loop;
  end if;
  return query
    select looked_at < p_scan, object.namespace, object.name, null::text, null::bigint, null::json;
end
$$;

-- As before, and notes the time of versions.
create or replace function plinth.keep_changes(p_history interval, p_close_after interval, p_ahead integer)
returns table (lower bigint)
language plpgsql
set enable_seqscan = off
set enable_sort = off
as $$
#variable_conflict use_column
declare
  reached bigint;
  open_lower bigint;
  open_upper bigint;
  opened timestamptz;
  settled bigint;
begin
  if not pg_try_advisory_xact_lock(7811071, 3) then
    return;
  end if;
  perform plinth.add_change_partitions(p_ahead);
  perform plinth.note_version_time(interval '50 seconds');

  select s.last_value into reached from plinth.resource_version s;
  select p.lower, p.upper into open_lower, open_upper
    from plinth.change_partitions p where p.lower <= reached and p.upper > reached;
  select c.at into opened from plinth.changes c
    where c.resource_version >= open_lower and c.resource_version < open_upper
    order by c.resource_version limit 1;
  if opened < clock_timestamp() - p_close_after then
    -- Under the writers' lock nobody holds a version of the partition that is not yet committed.
    perform pg_advisory_xact_lock(7811071, 1);
    if (select s.last_value from plinth.resource_version s) < open_upper then
      perform setval('plinth.resource_version', open_upper, false);
    end if;
    settled := open_upper;
  end if;

  -- A partition that filled up by itself is closed once a version behind it is committed, not once one is drawn.
  select greatest(settled, r.closed, (
      select c.resource_version from plinth.changes c order by c.resource_version desc limit 1))
    into settled from plinth.retention r;
  update plinth.change_partitions p set closed_at = clock_timestamp() where p.closed_at is null and p.upper <= settled;
  update plinth.retention r set
    closed = greatest(r.closed, (select max(p.upper) - 1 from plinth.change_partitions p where p.closed_at is not null)),
    floor = greatest(r.floor, (
      select max(p.upper) - 1 from plinth.change_partitions p where p.closed_at < clock_timestamp() - p_history));

  delete from plinth.fenced_batches f where f.fenced_at < clock_timestamp() - interval '1 hour';
  return query
    select p.lower from plinth.change_partitions p, plinth.retention r where p.upper - 1 <= r.floor order by p.lower;
end
$$;

-- The functions below are as before, and refuse to work on a standby.

create or replace function plinth.log_bounds() returns table (floor bigint, head bigint)
language plpgsql
set enable_seqscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  if pg_is_in_recovery() then
    raise exception 'the database is a standby; connect to the primary' using errcode = '25006';
  end if;
  return query select r.floor, greatest(r.closed, (
      select c.resource_version from plinth.changes c where c.resource_version > (select x.closed from plinth.retention x)
      order by c.resource_version desc limit 1))
    from plinth.retention r;
end
$$;

create or replace function plinth.get_objects(p_resource text[], p_namespace text[], p_name text[])
returns table (index bigint, uid text, resource_version bigint, data json)
language plpgsql
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  if pg_is_in_recovery() then
    raise exception 'the database is a standby; connect to the primary' using errcode = '25006';
  end if;
  return query select i.index, o.uid, o.resource_version, o.data
    from rows from (unnest(p_resource), unnest(p_namespace), unnest(p_name))
      with ordinality as i (resource, namespace, name, index)
    join plinth.objects o on o.resource = i.resource and o.namespace = i.namespace and o.name = i.name;
end
$$;

create or replace function plinth.count_objects(
  p_resource text,
  p_from_namespace text,
  p_from_name text,
  p_to_namespace text,
  p_to_name text,
  p_only_name text,
  p_at bigint
) returns bigint
language plpgsql
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
as $$
begin
  if pg_is_in_recovery() then
    raise exception 'the database is a standby; connect to the primary' using errcode = '25006';
  end if;
  return (
    select count(*) from plinth.objects o
    where o.resource = p_resource
      and (o.namespace, o.name) >= (p_from_namespace, p_from_name)
      and (o.namespace, o.name) < (p_to_namespace, p_to_name)
      and (p_only_name is null or o.name = p_only_name)
  ) + (
    select count(*) filter (where c.type = 2) - count(*) filter (where c.type = 0)
    from (
      select x.resource, x.namespace, x.name, x.type
      from plinth.changes x where x.resource_version > p_at order by x.resource_version offset 0
    ) c
    where c.resource = p_resource
      and (c.namespace, c.name) >= (p_from_namespace, p_from_name)
      and (c.namespace, c.name) < (p_to_namespace, p_to_name)
      and (p_only_name is null or c.name = p_only_name)
  );
end
$$;

-- list_page and read_changes also tell of a lost version: as floor they then give the first version behind the gap.

create or replace function plinth.list_page(
  p_resource text,
  p_from_namespace text,
  p_from_name text,
  p_to_namespace text,
  p_to_name text,
  p_only_name text,
  p_at bigint,
  p_limit bigint
) returns table (
  floor bigint, head bigint, namespace text, name text, uid text, resource_version bigint, data json)
language plpgsql
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set max_parallel_workers_per_gather = 0
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  if pg_is_in_recovery() then
    raise exception 'the database is a standby; connect to the primary' using errcode = '25006';
  end if;
  if p_at is null then
    return query
      (select r.floor, greatest(r.closed, (
          select c.resource_version from plinth.changes c
          where c.resource_version > (select x.closed from plinth.retention x)
          order by c.resource_version desc limit 1)),
        null::text, null::text, null::text, null::bigint, null::json
      from plinth.retention r)
      union all
      (select null, null, o.namespace, o.name, o.uid, o.resource_version, o.data
      from plinth.objects o
      where o.resource = p_resource
        and (o.namespace, o.name) >= (p_from_namespace, p_from_name)
        and (o.namespace, o.name) < (p_to_namespace, p_to_name)
        and (p_only_name is null or o.name = p_only_name)
      order by o.namespace, o.name limit p_limit);
  else
    return query
      (select case when p_at > r.lost_after and p_at < r.lost_until then r.lost_until else r.floor end,
          greatest(r.closed, (
          select c.resource_version from plinth.changes c
          where c.resource_version > (select x.closed from plinth.retention x)
          order by c.resource_version desc limit 1)),
        null::text, null::text, null::text, null::bigint, null::json
      from plinth.retention r)
      union all
      (select null, null, m.namespace, m.name, m.uid, m.resource_version, m.data
      from (
        (select o.namespace, o.name,
          case when o.resource_version <= p_at then o.uid else f.uid end as uid,
          case when o.resource_version <= p_at then o.resource_version else f.previous_version end as resource_version,
          case when o.resource_version <= p_at then o.data else f.previous end as data
        from plinth.objects o
        left join lateral (
          select c.uid, c.previous_version, c.previous
          from plinth.changes c
          where o.resource_version > p_at
            and c.resource = p_resource and c.namespace = o.namespace and c.name = o.name
            and c.resource_version > p_at
          order by c.resource_version limit 1
        ) f on true
        where o.resource = p_resource
          and (o.namespace, o.name) >= (p_from_namespace, p_from_name)
          and (o.namespace, o.name) < (p_to_namespace, p_to_name)
          and (p_only_name is null or o.name = p_only_name)
          and (o.resource_version <= p_at or f.previous_version is not null)
        order by o.namespace, o.name limit p_limit)
        union all
        (select d.namespace, d.name, f.uid, f.previous_version, f.previous
        from (
          select distinct c.namespace, c.name
          from plinth.changes c
          where c.resource = p_resource and c.type = 2
            and (c.namespace, c.name) >= (p_from_namespace, p_from_name)
            and (c.namespace, c.name) < (p_to_namespace, p_to_name)
            and (p_only_name is null or c.name = p_only_name)
            and c.resource_version > p_at
          order by c.namespace, c.name
        ) d
        cross join lateral (
          select c.uid, c.previous_version, c.previous
          from plinth.changes c
          where c.resource = p_resource and c.namespace = d.namespace and c.name = d.name
            and c.resource_version > p_at
          order by c.resource_version limit 1
        ) f
        where f.previous_version is not null
          and not exists (
            select from plinth.objects o
            where o.resource = p_resource and o.namespace = d.namespace and o.name = d.name)
        order by d.namespace, d.name limit p_limit)
      ) m
      order by m.namespace, m.name limit p_limit);
  end if;
end
$$;

create or replace function plinth.read_changes(
  p_after bigint,
  p_upto bigint,
  p_resources text[],
  p_namespace text,
  p_name text,
  p_limit bigint,
  p_bytes bigint
) returns table (
  floor bigint, head bigint, total bigint, resource_version bigint, type smallint, resource text, namespace text,
  name text, uid text, data json, previous json)
language plpgsql
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set max_parallel_workers_per_gather = 0
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  if pg_is_in_recovery() then
    raise exception 'the database is a standby; connect to the primary' using errcode = '25006';
  end if;
  return query
    (select case when p_after > r.lost_after and p_after < r.lost_until then r.lost_until else r.floor end,
        greatest(r.closed, (
        select c.resource_version from plinth.changes c
        where c.resource_version > (select x.closed from plinth.retention x)
        order by c.resource_version desc limit 1)),
      null::bigint, null::bigint, null::smallint, null::text, null::text, null::text, null::text, null::json, null::json
    from plinth.retention r)
    union all
    (select null, null, w.total, w.resource_version, w.type, w.resource, w.namespace, w.name, w.uid, w.data, w.previous
    from (
      select l.*, sum(l.size) over (order by l.resource_version rows unbounded preceding)::bigint as total
      from (
        select c.*, coalesce(pg_column_size(c.data), 0) + coalesce(pg_column_size(c.previous), 0) as size
        from plinth.changes c
        where c.resource_version > p_after and c.resource_version <= p_upto
          and (p_resources is null or c.resource = any (p_resources))
          and (p_namespace is null or c.namespace = p_namespace)
          and (p_name is null or c.name = p_name)
        order by c.resource_version limit p_limit
      ) l
    ) w
    where w.total - w.size <= p_bytes
    order by w.resource_version);
end
$$;

-- As before, for a writer that believes to be in epoch p_epoch.
create function plinth.write_batch(
  p_epoch bigint,
  p_batch bigint,
  p_op smallint[],
  p_resource text[],
  p_namespace text[],
  p_name text[],
  p_uid text[],
  p_expected bigint[],
  p_data text[]
) returns table (index bigint, version bigint, current_uid text, current_version bigint, current_data json)
language plpgsql
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  given_up boolean;
  same_history boolean;
  known_timeline integer;
begin
  if pg_is_in_recovery() then
    raise exception 'the database is a standby; connect to the primary' using errcode = '25006';
  end if;
  perform pg_advisory_xact_lock(7811071, 1);
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'writes need the isolation level read committed' using errcode = 'PL002';
  end if;
  select exists (select from plinth.fenced_batches f where f.batch = p_batch),
      p_epoch is null or (e.epoch = p_epoch and e.relation is not distinct from e.tableoid), e.timeline
    into given_up, same_history, known_timeline
    from plinth.epoch e where e.singleton;
  if same_history and known_timeline is not null then
    same_history := known_timeline =
      ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::integer;
  end if;
  if same_history is not true then
    raise exception 'the history of the database goes on elsewhere' using errcode = 'PL003';
  end if;
  if given_up then
    raise exception 'batch % was given up by its sender', p_batch using errcode = 'PL001';
  end if;
  return query
    with decided as materialized (
      select i.index, i.op, i.resource, i.namespace, i.name, i.uid, i.data::json as data,
        o.uid as current_uid, o.resource_version as current_version, o.data as current_data,
        case when i.op = 0 then o.resource_version is null else coalesce(o.resource_version = i.expected, false) end as holds
      from rows from (
        unnest(p_op), unnest(p_resource), unnest(p_namespace), unnest(p_name), unnest(p_uid), unnest(p_expected),
        unnest(p_data)
      ) with ordinality as i (op, resource, namespace, name, uid, expected, data, index)
      left join plinth.objects o on o.resource = i.resource and o.namespace = i.namespace and o.name = i.name
    ), versioned as materialized (
      select d.*, case when d.holds then nextval('plinth.resource_version') end as version from decided d
    ), created as (
      insert into plinth.objects (resource, namespace, name, uid, resource_version, data)
      select v.resource, v.namespace, v.name, v.uid, v.version, v.data from versioned v where v.holds and v.op = 0
    ), updated as (
      update plinth.objects o set uid = v.uid, resource_version = v.version, data = v.data
      from versioned v
      where v.holds and v.op = 1 and o.resource = v.resource and o.namespace = v.namespace and o.name = v.name
    ), deleted as (
      delete from plinth.objects o using versioned v
      where v.holds and v.op = 2 and o.resource = v.resource and o.namespace = v.namespace and o.name = v.name
    ), logged as (
      insert into plinth.changes
        (resource_version, type, resource, namespace, name, uid, data, previous, previous_version, batch, at)
      select v.version, v.op, v.resource, v.namespace, v.name, v.uid, v.data, v.current_data, v.current_version,
        p_batch, clock_timestamp()
      from versioned v where v.holds
    ), notified as materialized (
      select pg_notify('plinth_changes', max(v.version)::text) from versioned v having count(v.version) > 0
    )
    select v.index, v.version,
      case when not v.holds then v.current_uid end,
      case when not v.holds then v.current_version end,
      case when not v.holds then v.current_data end
    from versioned v
    where (select count(*) from notified) >= 0;
end
$$;

-- For processes of the version before, while they are being replaced.
create or replace function plinth.write_batch(
  p_batch bigint,
  p_op smallint[],
  p_resource text[],
  p_namespace text[],
  p_name text[],
  p_uid text[],
  p_expected bigint[],
  p_data text[]
) returns table (index bigint, version bigint, current_uid text, current_version bigint, current_data json)
language sql
begin atomic
  select w.index, w.version, w.current_uid, w.current_version, w.current_data
  from plinth.write_batch(null::bigint, p_batch, p_op, p_resource, p_namespace, p_name, p_uid, p_expected, p_data) w;
end;

revoke execute on all functions in schema plinth from public;
