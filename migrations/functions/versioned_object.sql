-- The object with its version, as the API shows it.
create or replace function plinth.versioned_object(p_object jsonb, p_version bigint) returns jsonb
language sql immutable parallel safe
return case
  when jsonb_typeof(p_object -> 'metadata') = 'object'
    then jsonb_set(p_object, '{metadata,resourceVersion}', to_jsonb(p_version::text))
  else p_object
end;
