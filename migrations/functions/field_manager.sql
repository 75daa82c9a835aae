-- The field manager of a change: the manager of the latest entry among the managedFields entries that were added or
-- changed. An entry that kept its time has only lost fields to another writer. The API gives the entry of a writer who
-- scaled no time: where such an entry is new, it is the latest.
create or replace function plinth.field_manager(p_before jsonb, p_after jsonb) returns text
language sql immutable
return (
  select n ->> 'manager'
  from jsonb_array_elements(case when jsonb_typeof(p_after #> '{metadata,managedFields}') = 'array'
    then p_after #> '{metadata,managedFields}' end) n
  left join lateral (
    select b as entry
    from jsonb_array_elements(case when jsonb_typeof(p_before #> '{metadata,managedFields}') = 'array'
      then p_before #> '{metadata,managedFields}' end) b
    where b - 'time' - 'fieldsV1' = n - 'time' - 'fieldsV1'
    order by b = n desc limit 1) k on true
  where k.entry is distinct from n
  order by k.entry is not null and k.entry -> 'time' is not distinct from n -> 'time', n ->> 'time' desc nulls first
  limit 1
);
