-- The reasons for the state of a pod and its containers (`Evicted`, `CrashLoopBackOff`, `Completed`), each once, in
-- order; null where none is given, as for a running pod. An index entry has a size limit; reasons do not come near it.
create or replace function plinth.object_reasons(p_object jsonb) returns text[]
language sql immutable parallel safe
return (
  select array_agg(distinct left(i #>> '{}', 600) order by left(i #>> '{}', 600))
  from (
    select jsonb_path_query(p_object, '$.status.*[*].state.*.reason') as i
    union all
    select p_object #> '{status,reason}' where p_object #> '{status,reason}' is not null
  ) r
);
