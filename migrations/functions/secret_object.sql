-- The visible part of a Secret. Lists the fields one by one, so that no field is shown by oversight.
create or replace function plinth.secret_object(p_object jsonb) returns jsonb
language sql immutable parallel safe
return case when p_object is not null then jsonb_build_object('kind', p_object -> 'kind', 'apiVersion', p_object -> 'apiVersion')
  || jsonb_build_object('metadata', case
    when p_object #> '{metadata,annotations}' is null then p_object -> 'metadata'
    else jsonb_set(p_object -> 'metadata', '{annotations}',
      coalesce(plinth.secret_annotations(p_object #> '{metadata,annotations}'), '{}'))
  end)
  || jsonb_build_object('type', p_object -> 'type')
  || case when p_object ? 'immutable' then jsonb_build_object('immutable', p_object -> 'immutable') else '{}' end end;
