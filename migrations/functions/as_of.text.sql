-- Like cluster.as_of at a version, at a moment in one of the forms of cluster.version_at(text).
create or replace function cluster.as_of(
  resource text,
  moment text,
  in_namespace text default null,
  object_name text default null,
  with_labels jsonb default null
) returns table (namespace text, name text, uid text, resource_version bigint, labels jsonb, object jsonb)
language sql stable
begin atomic
  select o.* from (select cluster.version_at(as_of.moment) as version offset 0) v
  cross join lateral cluster.as_of(as_of.resource, v.version, as_of.in_namespace, as_of.object_name, as_of.with_labels) o;
end;
