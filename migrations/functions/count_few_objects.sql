-- Like count_objects, but null where more than p_most objects would have to be counted: that may take seconds while
-- the visibility map does not know new pages.
create or replace function plinth.count_few_objects(
  p_resource text,
  p_from_namespace text,
  p_from_name text,
  p_to_namespace text,
  p_to_name text,
  p_only_name text,
  p_at bigint,
  p_most bigint
) returns bigint
language plpgsql
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
as $$
begin
  if p_most < (
    select count(*) from (
      select from plinth.objects o
      where o.resource = p_resource
        and (o.namespace, o.name) >= (p_from_namespace, p_from_name)
        and (o.namespace, o.name) < (p_to_namespace, p_to_name)
        and (p_only_name is null or o.name = p_only_name)
      limit p_most + 1
    ) few
  ) then
    return null;
  end if;
  return plinth.count_objects(
    p_resource, p_from_namespace, p_from_name, p_to_namespace, p_to_name, p_only_name, p_at);
end
$$;
