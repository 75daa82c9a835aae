-- The oldest version at which the states of a resource are known, and the newest version. p_resource null: for all
-- resources.
create or replace function plinth.past_bounds(p_resource text) returns table (floor bigint, head bigint)
language plpgsql
set jit = off
as $$
#variable_conflict use_column
begin
  return query
    select case
        when s.floor is null then b.compact_revision
        when x.resource is null then least(s.floor, b.compact_revision)
        -- The log still has the changes of a resource that the history leaves out.
        when x.included_from is null then s.upto - 1
        else greatest(least(s.floor, b.compact_revision), x.included_from)
      end, b.head
    from plinth.log_bounds() b
    left join plinth.history_state s on s.singleton
    left join plinth.history_exclusions x on x.resource = p_resource;
  -- A transaction with one snapshot may still expect partitions that were dropped meanwhile.
  if current_setting('transaction_isolation') <> 'read committed' and exists (
    select from plinth.change_partitions p, plinth.retention r
    where p.upper - 1 > r.compact_revision and to_regclass('plinth.changes_' || p.lower) is null
    union all
    select from plinth.history_partitions p, plinth.history_state s
    where p.upper - 1 > s.floor and to_regclass('plinth.history_' || p.lower) is null
  ) then
    raise exception 'parts of the history were dropped while this transaction was open' using errcode = '40001',
      hint = 'Start the transaction again.';
  end if;
end
$$;
