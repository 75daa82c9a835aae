-- Keys of a range in some blocks of plinth.objects, in no order, whose text may be wanted: it does not begin with
-- p_prefix, or contains all of p_words and one of p_any (null: no condition). The first row has the bounds of the log,
-- the file of the table and its number of blocks. Reading blocks one after the other costs a fraction of reading
-- objects by their keys, which lie anywhere in the table.
--
-- Ends after some 50 ms, or after p_blocks blocks: how long a block takes depends on the texts that are stored outside
-- of it, 60 of which may have a megabyte each. The last row, which has no key, has the next block in blocks. The first
-- block is always read.
--
-- A series of calls for all blocks sees every key that was there at the first and has not changed since, unless the
-- file has changed: then objects may have moved unchanged.
create or replace function plinth.find_blocks(
  p_resource text,
  p_from_namespace text,
  p_from_name text,
  p_to_namespace text,
  p_to_name text,
  p_block bigint,
  p_blocks bigint,
  p_prefix text,
  p_words text[],
  p_any text[]
) returns table (
  compact_revision bigint, head bigint, file bigint, blocks bigint, namespace text, name text)
language plpgsql
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set max_parallel_workers_per_gather = 0
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_deadline timestamptz := clock_timestamp() + interval '50 ms';
  v_end bigint := p_block + p_blocks;
  v_next bigint := p_block;
  v_step bigint := 1;
  v_from tid;
  v_to tid;
  v_first text := p_words[1];
  v_others text[] := p_words[2:];
begin
  if pg_is_in_recovery() then
    raise exception 'the database is a standby; connect to the primary' using errcode = '25006';
  end if;
  -- From here on the file stays the same.
  lock table plinth.objects in access share mode;
  return query
    select r.compact_revision, greatest(r.closed, (
        select c.resource_version from plinth.changes c
        where c.resource_version > (select x.closed from plinth.retention x where x.singleton)
        order by c.resource_version desc limit 1)),
      pg_relation_filenode('plinth.objects')::bigint,
      pg_relation_size('plinth.objects') / current_setting('block_size')::bigint, null::text, null::text
    from plinth.retention r where r.singleton;
  while v_next < v_end loop
    v_from := format('(%s,0)', v_next);
    v_next := least(v_next + v_step, v_end);
    v_to := format('(%s,0)', v_next);
    return query
      select null::bigint, null::bigint, null::bigint, null::bigint, t.namespace, t.name
      from (
        -- json_send costs less than casting json to text. The conditions must not use an index.
        select o.namespace, o.name, convert_from(json_send(o.data), pg_client_encoding()) as text
        from plinth.objects o
        where o.ctid >= v_from and o.ctid < v_to and nullif(o.resource, '') = p_resource
        offset 0
      ) t
      where (t.namespace, t.name) >= (p_from_namespace, p_from_name)
        and (t.namespace, t.name) < (p_to_namespace, p_to_name)
        and (not starts_with(t.text, p_prefix)
          or ((v_first is null or strpos(t.text, v_first) > 0)
            and (p_any is null or exists (select from unnest(p_any) w (word) where strpos(t.text, w.word) > 0))
            and not exists (select from unnest(v_others) w (word) where strpos(t.text, w.word) = 0)));
    exit when clock_timestamp() > v_deadline;
    -- A statement for each block would cost more than the blocks.
    v_step := least(v_step * 2, 16);
  end loop;
  return query select null::bigint, null::bigint, null::bigint, v_next, null::text, null::text;
end
$$;
