-- The images of the containers of a pod, each once, in order.
create or replace function plinth.object_images(p_object jsonb) returns text[]
language sql immutable parallel safe
return (
  select array_agg(distinct i #>> '{}' order by i #>> '{}')
  from jsonb_path_query(p_object, '$.spec.*[*].image') i
);
