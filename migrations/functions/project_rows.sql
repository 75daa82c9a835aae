-- Brings one table of rows from version p_after to p_upto: of each object that changed, the last state counts. Rows that
-- are newer stay, so that a table may be filled from a later state than the one it goes on from.
create or replace function plinth.project_rows(
  p_table plinth.projected_tables,
  p_after bigint,
  p_upto bigint,
  p_convert text
) returns bigint
language plpgsql
set jit = off
as $$
declare
  names text;
  made text;
  assigned text;
  applied bigint;
begin
  select coalesce(string_agg(format(', %I', c), '' order by i), ''), coalesce(string_agg(format(', %I = excluded.%I', c, c), '' order by i), '')
    into names, assigned from unnest(p_table.columns) with ordinality as t (c, i);
  select coalesce(string_agg(', ' || e, '' order by i), '') into made from unnest(p_table.expressions) with ordinality as t (e, i);
  execute format($q$
    with last as materialized (
      select distinct on (c.namespace, c.name) c.namespace, c.name, c.uid, c.resource_version, c.type, c.data
      from plinth.changes c
      where c.resource_version > $1 and c.resource_version <= $2 and c.resource = $3
      order by c.namespace, c.name, c.resource_version desc
    ), gone as (
      delete from plinth.%1$I r using last l
      where l.type = 2 and r.namespace = l.namespace and r.name = l.name and r.resource_version < l.resource_version
      returning 1
    ), put as (
      insert into plinth.%1$I as r (namespace, name, uid, resource_version, object%2$s)
      select l.namespace, l.name, l.uid, l.resource_version, %3$s
      from last l
      cross join lateral (select plinth.%4$I(l.data) as converted offset 0) x
      cross join lateral (
        select plinth.versioned_object(%5$s, l.resource_version) as object offset 0) o
      where l.type <> 2
      on conflict (namespace, name) do update set uid = excluded.uid, resource_version = excluded.resource_version,
        object = excluded.object%6$s
      where r.resource_version < excluded.resource_version
      returning 1
    )
    select (select count(*) from gone) + (select count(*) from put)
  $q$, p_table.table_name, names, 'o.object' || made, p_convert, p_table.visible, assigned)
  into applied using p_after, p_upto, p_table.resource;
  return applied;
end
$$;
