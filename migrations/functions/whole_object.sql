-- An object whose spec is in a column of its own, with its version.
create or replace function plinth.whole_object(p_object jsonb, p_spec jsonb, p_version bigint) returns jsonb
language sql immutable parallel safe
return case
  when p_spec is null then plinth.versioned_object(p_object, p_version)
  else plinth.versioned_object(p_object, p_version) || jsonb_build_object('spec', p_spec)
end;
