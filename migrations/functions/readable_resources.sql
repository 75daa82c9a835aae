-- All stored resources of which the caller may read a view.
create or replace function plinth.readable_resources() returns text[]
language plpgsql stable
as $$
begin
  return (
    select coalesce(array_agg(distinct v.resource), '{}') from plinth.sql_views v
    where v.resource is not null and to_regclass(format('cluster.%I', v.name)) is not null
      and has_table_privilege(plinth.reading_role(), to_regclass(format('cluster.%I', v.name))::oid, 'select'));
end
$$;
