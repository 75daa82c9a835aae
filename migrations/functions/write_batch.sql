-- Writes many changes at once, each under its own precondition (op 0: the key is absent; 3: it is absent, and its
-- namespace exists and is not being deleted; 1 update and 2 delete: the object has version p_expected; 4: like 1, and
-- the change is quiet by the first rule). For every input, by its position from 1, returns the new version, or null and
-- the live object that contradicted the precondition (none for op 3 if the namespace was the reason, or for a create if
-- its definition was).
--
-- A create with a definition (p_definition_resource, p_definition_name, p_definition_uid) needs that definition, as
-- long as its clean-up has not begun: the clean-up writes an object named after the uid into the resource
-- endeddefinitions.internal before it looks for objects. So it finds every object, and none comes later. The text of a
-- definition may be long, and is not read here. Other creates pay one comparison.
--
-- Writes can be tied together: those with the same number in p_group are all made or none. A write that was refused
-- only because of another one of its group is returned like a refused one.
--
-- p_group and the three columns of the definition are null where a write has none, and as a whole if no write has one,
-- which is the usual case and costs least.
--
-- The lock comes first and the versions are drawn under it, so versions become visible in their own order. The one
-- statement after it has a snapshot taken under the lock. p_epoch is the epoch that the writer assumes. The batch is
-- refused (PL003) when the database is in another epoch, or was promoted, restored or copied since the last check: then
-- its timeline or the table plinth.epoch itself differs from the record.
--
-- A batch of one write, as a single client makes it, runs the same steps as plain statements. Starting the plan for any
-- number of writes costs more than one write needs (measured for creates of 2 KB: 185 us of the backend's CPU instead
-- of 225).
--
-- A row with index 0 has the newest version that was drawn before the batch, null right after a leap. Versions are only
-- drawn under the lock. So a process that knows everything up to that version also knows everything up to the end of
-- its batch.
--
-- p_hint: whether to notify other processes, which look twice a second anyway. A commit with a notification fails while
-- the queue of the server is full, and any session can keep it full.
--
-- The namespace is checked under the lock, so it can't be emptied and removed while an object is made in it. The text
-- of the namespace is only parsed if it contains the word deletionTimestamp, and without its escapes: JSON has escapes
-- that the database can't convert to text. The check costs about as much as the look-up of the object itself, and no
-- round trip.
--
-- The state before a change is not stored again where the row of p_expected has it in the same partition of the log:
-- both rows are dropped together (lowest and highest: the bounds of that partition; null, and every state is stored,
-- where the newest version lies in no partition).
--
-- The wait for the lock ends before the caller gives up (10 s). Otherwise each attempt would leave behind a session
-- that waits although its client is gone, until the server takes no more connections: a commit that waits for a standby
-- holds the lock for as long as the standby is away.
--
-- Planner settings: the tables may have grown a thousandfold since their statistics were taken, and only the primary
-- key is ever the right access path.
create or replace function plinth.write_batch(
  p_epoch bigint,
  p_batch bigint,
  p_op smallint[],
  p_group smallint[],
  p_resource text[],
  p_namespace text[],
  p_name text[],
  p_uid text[],
  p_expected bigint[],
  p_data text[],
  p_definition_resource text[],
  p_definition_name text[],
  p_definition_uid text[],
  p_hint boolean
) returns table (index bigint, version bigint, current_uid text, current_version bigint, current_data json)
language plpgsql
set jit = off
set lock_timeout = '9s'
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
  hints text;
  is_replica boolean;
  live record;
  may_create boolean := true;
  drawn bigint;
  drawn_before bigint;
  lowest bigint;
  highest bigint;
  image json;
begin
  if pg_is_in_recovery() then
    raise exception 'the database is a standby; connect to the primary' using errcode = '25006';
  end if;
  lock table plinth.lock_writes in exclusive mode;
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'writes need the isolation level read committed' using errcode = 'PL002';
  end if;
  select exists (select from plinth.fenced_batches f where f.batch = p_batch),
      p_epoch is null or (e.epoch = p_epoch and e.relation is not distinct from e.tableoid), e.timeline,
      e.channel, e.replica
    into given_up, same_history, known_timeline, hints, is_replica
    from plinth.epoch e where e.singleton;
  if is_replica then
    raise exception 'the database is a replica; connect to the primary' using errcode = '25006';
  end if;
  if same_history and known_timeline is not null then
    same_history := known_timeline =
      ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::integer;
  end if;
  if same_history is not true then
    raise exception 'the history of the database is not the one that the writer knows' using errcode = 'PL003';
  end if;
  if given_up then
    raise exception 'batch % was cancelled by its sender', p_batch using errcode = 'PL001';
  end if;
  drawn_before := pg_sequence_last_value('plinth.resource_version');
  select p.lower, p.upper into lowest, highest from plinth.change_partitions p
    where p.lower <= drawn_before order by p.lower desc limit 1;
  if cardinality(p_op) = 1 then
    select o.uid, o.resource_version, o.data into live from plinth.objects o
      where o.resource = p_resource[1] and o.namespace = p_namespace[1] and o.name = p_name[1];
    if p_op[1] = 3 then
      select strpos(n.data::text, '"deletionTimestamp"') = 0
          or replace(n.data::text, '\u', '/u')::json->'metadata'->>'deletionTimestamp' is null
        into may_create from plinth.objects n
        where n.resource = 'namespaces' and n.namespace = '' and n.name = p_namespace[1];
    end if;
    if p_definition_uid[1] is not null and may_create then
      may_create := false;
      select not exists (
          select from plinth.objects e
            where e.resource = 'endeddefinitions.internal' and e.namespace = '' and e.name = p_definition_uid[1]
        ) into may_create from plinth.objects d
        where d.resource = p_definition_resource[1] and d.namespace = '' and d.name = p_definition_name[1]
          and d.uid = p_definition_uid[1];
    end if;
    if (case when p_op[1] in (0, 3) then live.resource_version is not null or may_create is not true
        else live.resource_version is distinct from p_expected[1] or live.resource_version is null end) then
      return query select 1::bigint, null::bigint, live.uid, live.resource_version, live.data;
      return;
    end if;
    drawn := nextval('plinth.resource_version');
    -- Cast once: each cast to JSON checks the text.
    image := p_data[1]::json;
    if p_op[1] in (0, 3) then
      insert into plinth.objects (resource, namespace, name, uid, resource_version, data)
        values (p_resource[1], p_namespace[1], p_name[1], p_uid[1], drawn, image);
    elsif p_op[1] in (1, 4) then
      update plinth.objects o set uid = p_uid[1], resource_version = drawn, data = image
        where o.resource = p_resource[1] and o.namespace = p_namespace[1] and o.name = p_name[1];
    else
      delete from plinth.objects o
        where o.resource = p_resource[1] and o.namespace = p_namespace[1] and o.name = p_name[1];
    end if;
    insert into plinth.changes
        (resource_version, type, resource, namespace, name, uid, data, previous, previous_version, batch, at, quiet)
      values (drawn, case p_op[1] when 3 then 0 when 4 then 1 else p_op[1] end, p_resource[1], p_namespace[1],
        p_name[1], p_uid[1], image,
        case when live.resource_version >= lowest and drawn < highest then null else live.data end,
        live.resource_version, p_batch, clock_timestamp(), case when p_op[1] = 4 then 1 end);
    if p_hint then
      perform pg_notify(hints, drawn::text);
    end if;
    return query values (0::bigint, drawn_before, null::text, null::bigint, null::json),
      (1::bigint, drawn, null::text, null::bigint, null::json);
    return;
  end if;
  return query select 0::bigint, drawn_before, null::text, null::bigint, null::json;
  return query
    with tested as materialized (
      select i.index, case i.op when 3 then 0 when 4 then 1 else i.op end as op,
        case when i.op = 4 then 1 end as quiet, i.tied, i.resource, i.namespace, i.name, i.uid, i.data::json as data,
        o.uid as current_uid, o.resource_version as current_version, o.data as current_data,
        case
          when i.op = 0 then o.resource_version is null
          when i.op = 3 then o.resource_version is null and coalesce((
            select strpos(n.data::text, '"deletionTimestamp"') = 0
              or replace(n.data::text, '\u', '/u')::json->'metadata'->>'deletionTimestamp' is null
            from plinth.objects n
            where n.resource = 'namespaces' and n.namespace = '' and n.name = i.namespace), false)
          else coalesce(o.resource_version = i.expected, false)
        end and case
          when i.definition_uid is null then true
          else exists (
            select from plinth.objects d
            where d.resource = i.definition_resource and d.namespace = '' and d.name = i.definition_name
              and d.uid = i.definition_uid
          ) and not exists (
            select from plinth.objects d
            where d.resource = 'endeddefinitions.internal' and d.namespace = '' and d.name = i.definition_uid)
        end as fits
      from rows from (
        unnest(p_op), unnest(p_group), unnest(p_resource), unnest(p_namespace), unnest(p_name), unnest(p_uid),
        unnest(p_expected), unnest(p_data), unnest(p_definition_resource), unnest(p_definition_name),
        unnest(p_definition_uid)
      ) with ordinality as i (op, tied, resource, namespace, name, uid, expected, data, definition_resource,
        definition_name, definition_uid, index)
      left join plinth.objects o on o.resource = i.resource and o.namespace = i.namespace and o.name = i.name
    ), versioned as materialized (
      select d.*, case when d.holds then nextval('plinth.resource_version') end as version
      from (
        select t.*, t.fits and (t.tied is null or t.tied not in (
            select x.tied from tested x where not x.fits and x.tied is not null)) as holds
        from tested t offset 0
      ) d
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
        (resource_version, type, resource, namespace, name, uid, data, previous, previous_version, batch, at, quiet)
      select v.version, v.op, v.resource, v.namespace, v.name, v.uid, v.data,
        case when v.current_version >= lowest and v.version < highest then null else v.current_data end,
        v.current_version, p_batch, clock_timestamp(), v.quiet
      from versioned v where v.holds
    ), notified as materialized (
      select pg_notify(hints, max(v.version)::text) from versioned v having p_hint and count(v.version) > 0
    )
    select v.index, v.version,
      case when not v.holds then v.current_uid end,
      case when not v.holds then v.current_version end,
      case when not v.holds then v.current_data end
    from versioned v
    where (select count(*) from notified) >= 0;
end
$$;
