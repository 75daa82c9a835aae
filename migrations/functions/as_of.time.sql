-- The same at a time.
create or replace function cluster.as_of(resource text, moment timestamptz, in_namespace text default null)
returns table (namespace text, name text, uid text, resource_version bigint, labels jsonb, object jsonb)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return query select * from cluster.as_of(resource, cluster.version_at(moment), in_namespace);
end
$$;
