-- The stored resource that a name means: that of a view (`pods`), or of a resource with its group (`deployments.apps`).
-- Fails when the caller may not read the view. So the caller may read the history of exactly the resources that it may
-- read now.
create or replace function plinth.readable_resource(p_name text) returns text
language plpgsql stable
as $$
declare
  candidate record;
  is_known boolean := false;
begin
  for candidate in
    select v.resource, to_regclass(format('cluster.%I', v.name)) as relation from plinth.sql_views v
    where v.resource is not null and (v.name = p_name or v.resource = p_name)
    order by v.name = p_name desc
  loop
    is_known := true;
    if candidate.relation is not null
      and has_table_privilege(plinth.reading_role(), candidate.relation::oid, 'select') then
      return candidate.resource;
    end if;
  end loop;
  if is_known then
    raise exception 'permission denied for the history of %', p_name using errcode = '42501';
  end if;
  raise exception 'schema cluster has no resource %', quote_literal(coalesce(p_name, ''))
    using errcode = '42704', hint = 'Names are those of the views, or of resources with their group: deployments.apps.';
end
$$;
