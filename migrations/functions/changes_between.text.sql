-- Like cluster.changes_between with two versions, between two moments in the forms of cluster.version_at(text).
create or replace function cluster.changes_between(
  a text,
  b text,
  in_resource text default null,
  in_namespace text default null,
  object_name text default null
) returns table (resource text, namespace text, name text, verb text, changes bigint, version bigint, at timestamptz,
  manager text, diff jsonb, before jsonb, after jsonb)
language sql stable
begin atomic
  select c.* from (select cluster.version_at(a) as a, cluster.version_at(b) as b offset 0) v
  cross join lateral cluster.changes_between(v.a, v.b, in_resource, in_namespace, object_name) c;
end;
