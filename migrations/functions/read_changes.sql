-- The log in order: versions in (p_after, p_upto], at most p_limit rows, cut off after the row with which their size
-- exceeds p_bytes (total is the running size, which shows the cut to the reader). The size is that of the text; for
-- compressed text of up to two kilobytes it is estimated: reading the text only for its size would cost more. Null
-- filters mean everything. The first row only has compact_revision and head (for a lost version, compact_revision is
-- the first version after the gap). Volatile for the same reason as plinth.list_page.
create or replace function plinth.read_changes(
  p_after bigint,
  p_upto bigint,
  p_resources text[],
  p_namespace text,
  p_name text,
  p_limit bigint,
  p_bytes bigint
) returns table (
  compact_revision bigint, head bigint, total bigint, resource_version bigint, type smallint, resource text,
  namespace text,
  name text, uid text, data json, previous json)
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
  -- Sessions with a read replica say so: they must not read from anything else, such as a replica that was promoted.
  if pg_is_in_recovery() <> (coalesce(current_setting('plinth.reads_standby', true), '') = 'on') then
    raise exception '%', case when pg_is_in_recovery() then 'the database is a standby; connect to the primary'
      else 'the database is no standby any more' end using errcode = '25006';
  end if;
  return query
    (select case when p_after > r.lost_after and p_after < r.lost_until then r.lost_until else r.compact_revision end,
        greatest(r.closed, (
        select c.resource_version from plinth.changes c
        where c.resource_version > (select x.closed from plinth.retention x where x.singleton)
        order by c.resource_version desc limit 1)),
      null::bigint, null::bigint, null::smallint, null::text, null::text, null::text, null::text, null::json, null::json
    from plinth.retention r where r.singleton)
    union all
    (select null, null, w.total, w.resource_version, w.type, w.resource, w.namespace, w.name, w.uid, w.data, w.previous
    from (
      select l.*, sum(l.size) over (order by l.resource_version rows unbounded preceding)::bigint as total
      from (
        select s.*,
          coalesce(case
            when pg_column_compression(s.data) is null then pg_column_size(s.data)
            when pg_column_size(s.data) <= 2000 then pg_column_size(s.data) * 8
            else octet_length(s.data::text) end, 0)
          + coalesce(case
            when pg_column_compression(s.previous) is null then pg_column_size(s.previous)
            when pg_column_size(s.previous) <= 2000 then pg_column_size(s.previous) * 8
            else octet_length(s.previous::text) end, 0) as size
        from (
          select c.resource_version, c.type, c.resource, c.namespace, c.name, c.uid, c.data, coalesce(c.previous,
            (select b.data from plinth.changes b where b.resource_version = c.previous_version)) as previous
          from plinth.changes c
          where c.resource_version > p_after and c.resource_version <= p_upto
            and (p_resources is null or c.resource = any (p_resources))
            and (p_namespace is null or c.namespace = p_namespace)
            and (p_name is null or c.name = p_name)
          order by c.resource_version limit p_limit
        ) s
      ) l
    ) w
    where w.total - w.size <= p_bytes
    order by w.resource_version);
end
$$;
