-- The objects of a resource as they were at a version. Fails for a version before what is kept, and for one to come. Secrets and
-- encrypted objects are shown as their views show them.
create or replace function cluster.as_of(resource text, version bigint, in_namespace text default null)
returns table (namespace text, name text, uid text, resource_version bigint, labels jsonb, object jsonb)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  stored constant text := plinth.readable_resource(as_of.resource);
begin
  perform plinth.check_past(stored, version);
  return query
    select nullif(p.namespace, ''), p.name, p.uid, p.resource_version, s.object #> '{metadata,labels}', s.object
    from plinth.past_page(stored, coalesce(in_namespace, ''), '', case when in_namespace is null then U&'\+10FFFF'
      else in_namespace || U&'\0001' end, '', null, version, null) p
    cross join lateral (
      select plinth.shown_object(stored, p.data, p.resource_version) as object offset 0) s
    where p.name is not null;
  -- What was dropped meanwhile may be missing.
  perform plinth.check_past(stored, version);
end
$$;
