-- How far the rows of schema cluster are behind the objects; no row where the views read the objects themselves.
create or replace function cluster.lag() returns table ("position" bigint, head bigint, behind interval)
language plpgsql stable
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
    select p.position, greatest(p.position, (
        select c.resource_version from plinth.changes c where c.resource_version > p.position
        order by c.resource_version desc limit 1)),
      coalesce(clock_timestamp() - (
        select c.at from plinth.changes c where c.resource_version > p.position order by c.resource_version limit 1
      ), interval '0')
    from plinth.projection p where exists (select from plinth.projected_tables);
end
$$;
