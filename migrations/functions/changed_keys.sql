-- Keys of a range whose objects were changed after p_after to a text that may be wanted (see plinth.find_blocks), or,
-- with p_before, from such a text. Deletes count with p_before only; a key may come more than once. Ends with key
-- 20,001, which shows that there are more than 20,000. The first row has the bounds of the log; everything comes from
-- one snapshot. Where more than 50,000 changes follow, which take longer to read than they are worth, compact_revision
-- is above p_after, as if the log did not reach it. Versions can't replace the count: they leap with each new
-- partition.
create or replace function plinth.changed_keys(
  p_resource text,
  p_from_namespace text,
  p_from_name text,
  p_to_namespace text,
  p_to_name text,
  p_after bigint,
  p_before boolean,
  p_prefix text,
  p_words text[],
  p_any text[]
) returns table (compact_revision bigint, head bigint, namespace text, name text)
language plpgsql
set jit = off
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
    (select case
        when p_after > r.lost_after and p_after < r.lost_until then r.lost_until
        when exists (select from plinth.changes c where c.resource_version > p_after offset 50000) then p_after + 1
        else r.compact_revision
      end,
      greatest(r.closed, (
        select c.resource_version from plinth.changes c
        where c.resource_version > (select x.closed from plinth.retention x where x.singleton)
        order by c.resource_version desc limit 1)),
      null::text, null::text
    from plinth.retention r where r.singleton)
    union all
    (select null, null, s.namespace, s.name
    from (
      -- Reads the log by version, so that only later changes are read.
      select c.namespace, c.name, c.type, c.data, c.previous, c.previous_version
      from plinth.changes c
      where c.resource_version > p_after and nullif(c.resource, '') = p_resource
        and not exists (select from plinth.changes m where m.resource_version > p_after offset 50000)
      offset 0
    ) s
    cross join lateral (
      select s.data where s.type <> 2
      union all
      select coalesce(s.previous, (select b.data from plinth.changes b where b.resource_version = s.previous_version))
      where p_before and s.previous_version is not null
    ) d
    cross join lateral (select convert_from(json_send(d.data), pg_client_encoding()) as text offset 0) t
    where (s.namespace, s.name) >= (p_from_namespace, p_from_name)
      and (s.namespace, s.name) < (p_to_namespace, p_to_name)
      and (not starts_with(t.text, p_prefix)
        or ((p_any is null or exists (select from unnest(p_any) w (word) where strpos(t.text, w.word) > 0))
          and not exists (select from unnest(p_words) w (word) where strpos(t.text, w.word) = 0)))
    limit 20001);
end
$$;
