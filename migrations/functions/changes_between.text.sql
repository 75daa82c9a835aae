-- The same between two moments in the forms of cluster.version_at(text).
create or replace function cluster.changes_between(a text, b text, in_resource text default null, in_namespace text default null)
returns table (resource text, namespace text, name text, verb text, changes bigint, version bigint, at timestamptz,
  manager text, diff jsonb, before jsonb, after jsonb)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return query select * from cluster.changes_between(
    cluster.version_at(a), cluster.version_at(b), in_resource, in_namespace);
end
$$;
