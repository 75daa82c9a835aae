-- The images of the containers of a pod, each once, in order. An index entry has a size limit; names of images do not
-- come near it, and other texts are cut.
create or replace function plinth.object_images(p_object jsonb) returns text[]
language sql immutable parallel safe
return (
  select array_agg(distinct left(i #>> '{}', 600) order by left(i #>> '{}', 600))
  from jsonb_path_query(p_object, '$.spec.*[*].image') i
);
