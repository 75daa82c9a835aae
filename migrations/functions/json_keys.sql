-- The keys of a map, in order; null when there is none.
create or replace function plinth.json_keys(p_map jsonb) returns text[]
language sql immutable parallel safe
return (
  select array_agg(k.key order by k.key collate "C")
  from jsonb_object_keys(case when jsonb_typeof(p_map) = 'object' then p_map end) k (key)
);
