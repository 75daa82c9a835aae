-- Kind and name of the controller of an object, as `ReplicaSet/web-7d4`; null without one.
create or replace function plinth.object_owner(p_object jsonb) returns text
language sql immutable parallel safe
return (
  select (r ->> 'kind') || '/' || (r ->> 'name')
  from jsonb_path_query_first(p_object, '$.metadata.ownerReferences[*] ? (@.controller == true)') r
);
