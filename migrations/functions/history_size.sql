-- The bounds of the history, and its size on disk with its indexes. Without --history-retention there is only the log.
create or replace function cluster.history_size()
returns table (retention interval, oldest_version bigint, newest_version bigint, oldest_at timestamptz,
  partitions bigint, bytes bigint, log_partitions bigint, log_bytes bigint)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
#variable_conflict use_column
begin
  return query
    select (select s.retention from plinth.history_state s where s.singleton), b.floor, b.head,
      (select e.at from (
        (select h.at from plinth.history h where h.resource_version > b.floor order by h.resource_version limit 1)
        union all
        (select c.at from plinth.changes c where c.resource_version > b.floor order by c.resource_version limit 1)
      ) e order by e.at limit 1),
      h.partitions, h.bytes, l.partitions, l.bytes
    from plinth.past_bounds(null) b,
      lateral (select count(*) as partitions, coalesce(sum(pg_total_relation_size(i.inhrelid)), 0)::bigint as bytes
        from pg_inherits i where i.inhparent = 'plinth.history'::regclass) h,
      lateral (select count(*) as partitions, coalesce(sum(pg_total_relation_size(i.inhrelid)), 0)::bigint as bytes
        from pg_inherits i where i.inhparent = 'plinth.changes'::regclass) l;
end
$$;
