-- Live objects, the log of their changes, and the functions every process writes and reads them with.
-- Runs inside one transaction; the schema plinth exists already.

-- CACHE 1: a cached block of numbers per session would break "version order is commit order".
-- 1 stays free as the version of the empty store; 0 has a meaning of its own in the API.
create sequence plinth.resource_version as bigint start 2 minvalue 1 cache 1 no cycle;

-- One row per live object. Only the primary key is indexed, so that an update is a HOT update.
-- json keeps the text as it was written; jsonb would re-encode it.
create table plinth.objects (
  resource text collate "C" not null,
  namespace text collate "C" not null,
  name text collate "C" not null,
  uid text not null,
  resource_version bigint not null,
  data json not null,
  primary key (resource, namespace, name)
) with (
  fillfactor = 80,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_insert_scale_factor = 0.05,
  autovacuum_analyze_scale_factor = 0.05,
  autovacuum_vacuum_cost_delay = 1,
  toast.autovacuum_vacuum_scale_factor = 0.05,
  toast.autovacuum_vacuum_cost_delay = 1
);

-- Every version once. type: 0 create, 1 update, 2 delete. data is the state after the change (of a delete the full
-- last state), previous the state before it. Rows are only ever added; old ones leave with their partition.
create table plinth.changes (
  resource_version bigint not null,
  type smallint not null,
  resource text collate "C" not null,
  namespace text collate "C" not null,
  name text collate "C" not null,
  uid text not null,
  data json not null,
  previous json,
  previous_version bigint,
  batch bigint not null,
  at timestamptz not null,
  primary key (resource_version)
) partition by range (resource_version);

-- For lists as of an older version: of a key that lives, the first change after it; and the keys deleted since.
create index changes_by_key on plinth.changes (resource, namespace, name, resource_version);
create index changes_deletes on plinth.changes (resource, namespace, name, resource_version) where type = 2;

do $$
begin
  alter table plinth.objects alter column data set compression lz4;
  alter table plinth.changes alter column data set compression lz4, alter column previous set compression lz4;
exception when feature_not_supported or invalid_parameter_value then
  raise notice 'this server has no lz4; stored objects use its default compression';
end
$$;

-- The partitions of plinth.changes: versions in [lower, upper). closed_at: when the sequence had passed it.
create table plinth.change_partitions (
  lower bigint primary key,
  upper bigint not null,
  closed_at timestamptz
);

-- floor: the oldest version that can be listed at or watched from; raised before anything is dropped, never lowered.
-- closed: last version of the newest closed partition; the head is never below it.
create table plinth.retention (
  singleton boolean primary key default true check (singleton),
  floor bigint not null,
  closed bigint not null
);
insert into plinth.retention (floor, closed) values (1, 1);

-- Batches whose sender lost its connection and has drawn a line: they must not run any more.
create table plinth.fenced_batches (
  batch bigint primary key,
  fenced_at timestamptz not null default clock_timestamp()
);

-- Which history of the database this is. A restore or a failover changes system_identifier or timeline.
create table plinth.epoch (
  singleton boolean primary key default true check (singleton),
  epoch bigint not null,
  system_identifier bigint,
  timeline integer,
  highest_version bigint not null,
  checked_at timestamptz not null default clock_timestamp()
);
insert into plinth.epoch (epoch, highest_version) values (1, 1);

-- Makes sure that p_ahead partitions lie ahead of the sequence. Built aside and attached: attaching, unlike
-- CREATE TABLE ... PARTITION OF, blocks neither readers nor writers of the log.
create function plinth.add_change_partitions(p_ahead integer) returns void
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

select plinth.add_change_partitions(3);

-- One round of log keeping; any process may call it at any time, rounds exclude each other. Adds partitions ahead,
-- closes the current one when its first change is older than p_close_after, raises the floor over partitions closed
-- for longer than p_history, forgets old fences. Returns the partitions that may be dropped once this has committed.
create function plinth.keep_changes(p_history interval, p_close_after interval, p_ahead integer)
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

-- The two ends of the log in one snapshot: versions below floor are lost, head is the newest committed one.
create function plinth.log_bounds() returns table (floor bigint, head bigint)
language plpgsql
set enable_seqscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query select r.floor, greatest(r.closed, (
      select c.resource_version from plinth.changes c where c.resource_version > (select x.closed from plinth.retention x)
      order by c.resource_version desc limit 1))
    from plinth.retention r;
end
$$;

-- Writes many changes in one go, each under its own precondition (op 0: the key is absent; 1 update and 2 delete:
-- the object has version p_expected). Answers for every input, by its position from 1, the new version, or null and
-- the live object that stood in the way.
--
-- The lock comes first and the versions are drawn under it, so versions become visible in their own order; the one
-- statement after it has a snapshot taken under the lock. Planner settings: the tables may have grown a thousandfold
-- since their statistics were taken, and only the primary key is ever the right way in.
create function plinth.write_batch(
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
begin
  perform pg_advisory_xact_lock(7811071, 1);
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'writes need the isolation level read committed' using errcode = 'PL002';
  end if;
  if exists (select from plinth.fenced_batches f where f.batch = p_batch) then
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

-- Settles the fate of a batch whose answer was lost: waits for it if it still runs, forbids it to run later, and
-- returns what it wrote (nothing when it did not commit).
create function plinth.resolve_batch(p_batch bigint, p_after bigint)
returns table (version bigint, resource text, namespace text, name text)
language plpgsql
set enable_seqscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  perform pg_advisory_xact_lock(7811071, 1);
  insert into plinth.fenced_batches (batch) values (p_batch) on conflict do nothing;
  return query select c.resource_version, c.resource, c.namespace, c.name
    from plinth.changes c where c.resource_version > p_after and c.batch = p_batch order by c.resource_version;
end
$$;

-- The live objects under many keys; index is the position of the key from 1, absent keys have no row.
create function plinth.get_objects(p_resource text[], p_namespace text[], p_name text[])
returns table (index bigint, uid text, resource_version bigint, data json)
language plpgsql
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query select i.index, o.uid, o.resource_version, o.data
    from rows from (unnest(p_resource), unnest(p_namespace), unnest(p_name))
      with ordinality as i (resource, namespace, name, index)
    join plinth.objects o on o.resource = i.resource and o.namespace = i.namespace and o.name = i.name;
end
$$;

-- One page of a resource in (namespace, name) order, keys from (p_from_*) inclusive to (p_to_*) exclusive. The first
-- row has floor and head only, all others an object only; everything comes from one snapshot. With p_at the page
-- shows that version (meaningless unless floor <= p_at <= head): the objects that live now, those changed since in
-- the state before their first change after p_at, and the deleted ones likewise. Both parts walk their index in key
-- order and stop at the limit; filtering objects by version instead would walk over all that changed.
--
-- Volatile on purpose: a stable function would read under the snapshot of the calling statement, taken before the
-- log's partitions are locked, and could miss one that is dropped in between.
create function plinth.list_page(
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
      (select r.floor, greatest(r.closed, (
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

-- How many objects of the range there were at version p_at: those of now, less what was created since, plus what was
-- deleted. OFFSET 0 keeps the planner from reading the log by key: by version, only what came after is read.
create function plinth.count_objects(
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

-- The log in order, versions in (p_after, p_upto], at most p_limit rows, cut off behind the row with which their
-- size exceeds p_bytes (total is the running size, so the reader can tell). Null filters mean everything. The first
-- row has floor and head only; volatile for the same reason as list_page.
create function plinth.read_changes(
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
  return query
    (select r.floor, greatest(r.closed, (
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
