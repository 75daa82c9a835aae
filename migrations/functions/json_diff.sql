-- The differences between two values, as a list of {op, path, from, to}; op is add, remove or replace. Elements of
-- lists are identified by their name, type, uid or key where each has one of its own:
-- `spec.containers[name=web].image`. Other lists are compared place by place.
create or replace function plinth.json_diff(p_from jsonb, p_to jsonb, p_path text default '') returns jsonb
language sql immutable
return to_jsonb(plinth.json_differences(p_from, p_to, p_path, 0));
