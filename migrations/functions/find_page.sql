-- Like plinth.list_page, but without most of the objects whose text has none of p_words. It still has the last object
-- that was checked, and all encrypted ones. looked: how many objects were checked up to this one. Leaving out unwanted
-- texts here saves sending and reading them.
create or replace function plinth.find_page(
  p_resource text,
  p_from_namespace text,
  p_from_name text,
  p_to_namespace text,
  p_to_name text,
  p_only_name text,
  p_at bigint,
  p_limit bigint,
  p_words text[]
) returns table (
  compact_revision bigint, head bigint, namespace text, name text, uid text, resource_version bigint, data json,
  looked bigint)
language plpgsql
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
    select p.compact_revision, p.head, p.namespace, p.name, p.uid, p.resource_version, p.data, p.row - 1
    from plinth.list_page(
      p_resource, p_from_namespace, p_from_name, p_to_namespace, p_to_name, p_only_name, p_at, p_limit)
      with ordinality as p (compact_revision, head, namespace, name, uid, resource_version, data, row)
    -- Casting json to text costs more than searching the text.
    cross join lateral (select p.data::text as text offset 0) t
    where p.compact_revision is not null
      or p.row > p_limit
      or strpos(t.text, p_words[1]) > 0
      or left(t.text, 1) = '"'
      or (cardinality(p_words) > 1 and exists (select from unnest(p_words) w (word) where strpos(t.text, w.word) > 0));
end
$$;
