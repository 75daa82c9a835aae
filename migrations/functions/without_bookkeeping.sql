-- An object without what every write changes.
create or replace function plinth.without_bookkeeping(p_object jsonb) returns jsonb
language sql immutable
return case
  when jsonb_typeof(p_object -> 'metadata') = 'object' then jsonb_set(p_object, '{metadata}',
    (p_object -> 'metadata') - '{managedFields,resourceVersion}'::text[])
  else p_object
end;
