-- Annotations of a Secret without those that repeat the object: clients keep whole manifests in them.
create or replace function plinth.secret_annotations(p_annotations jsonb) returns jsonb
language sql immutable parallel safe
return (
  select jsonb_object_agg(a.key, case
    when a.key like '%/last-applied-configuration' or a.value #>> '{}' ~ '^\s*[[{]' then '"(hidden)"'::jsonb
    else a.value
  end)
  from jsonb_each(case when jsonb_typeof(p_annotations) = 'object' then p_annotations end) a
);
