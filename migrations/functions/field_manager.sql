-- The field manager of a change: the manager of the latest entry among the managedFields entries that were added or
-- changed.
create or replace function plinth.field_manager(p_before jsonb, p_after jsonb) returns text
language sql immutable
return (
  select n ->> 'manager'
  from jsonb_array_elements(case when jsonb_typeof(p_after #> '{metadata,managedFields}') = 'array'
    then p_after #> '{metadata,managedFields}' end) n
  where not exists (
    select from jsonb_array_elements(case when jsonb_typeof(p_before #> '{metadata,managedFields}') = 'array'
      then p_before #> '{metadata,managedFields}' end) b
    where b = n)
  order by n ->> 'time' desc nulls last limit 1
);
