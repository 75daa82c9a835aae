-- Raises the floor of the history until the partitions above it take at most p_most_bytes on disk, with their indexes. The
-- newest partition stays, however large it is. plinth.keep_history then returns those that may be dropped.
create or replace function plinth.bound_history(p_most_bytes bigint) returns void
language plpgsql
set jit = off
as $$
begin
  begin
    lock table plinth.lock_history in exclusive mode nowait;
  exception when lock_not_available then
    return;
  end;
  update plinth.history_state s set floor = greatest(s.floor, (
      select max(t.upper) - 1 from (
        select p.upper, sum(coalesce(pg_total_relation_size(to_regclass('plinth.history_' || p.lower)), 0))
            over (order by p.lower desc) as bytes,
          row_number() over (order by p.lower desc) as place
        from plinth.history_partitions p) t
      where t.bytes > p_most_bytes and t.place > 1))
    where s.singleton;
end
$$;
