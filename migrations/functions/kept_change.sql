-- One change, from the history or the log, with the state before it.
create or replace function plinth.kept_change(p_version bigint)
returns table (type smallint, uid text, data json, previous json, previous_version bigint, at timestamptz)
language plpgsql
set jit = off
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
    select h.type, h.uid, h.data, case
        when h.previous is null and h.previous_version is not null
          then (select b.data from plinth.history b where b.resource_version = h.previous_version)
        else h.previous
      end, h.previous_version, h.at
    from plinth.history h where h.resource_version = p_version
    union all
    select c.type, c.uid, c.data, c.previous, c.previous_version, c.at
    from plinth.changes c where c.resource_version = p_version
    limit 1;
end
$$;
