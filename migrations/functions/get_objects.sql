-- The live objects under many keys; index is the position of the key from 1, absent keys have no row.
create or replace function plinth.get_objects(p_resource text[], p_namespace text[], p_name text[])
returns table (index bigint, uid text, resource_version bigint, data json)
language plpgsql
set jit = off
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  if pg_is_in_recovery() then
    raise exception 'the database is a standby; connect to the primary' using errcode = '25006';
  end if;
  return query select i.index, o.uid, o.resource_version, o.data
    from rows from (unnest(p_resource), unnest(p_namespace), unnest(p_name))
      with ordinality as i (resource, namespace, name, index)
    join plinth.objects o on o.resource = i.resource and o.namespace = i.namespace and o.name = i.name;
end
$$;
