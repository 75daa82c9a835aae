-- Brings one table of rows from version p_after to p_upto: of each object that changed, the last state counts. Changes
-- that are quiet by the rule of the table are skipped, so its resource_version is that of the last other change. Rows
-- that are newer stay, so that a table may be filled from a later state than the one it continues from. p_convert:
-- plinth.row_object, or plinth.safe_row_object, which takes every text.
--
-- Most changes leave all indexed columns unchanged. PostgreSQL then stores the new row beside the old one and touches
-- no index, but only where the old values are assigned again: an equal value that is stored outside the row counts as
-- changed.
--
-- Each text is converted once. PostgreSQL would keep texts and what was made of them in memory, in case one comes again
-- (enable_memoize), which costs more than the conversion.
--
-- To plan the statement takes as long as to make the rows of a hundred changes. The connection keeps the plans of the few
-- tables whose objects change all the time; those of all kinds would take too much memory. Such a plan does not know how
-- few the changes are, so nullif keeps it from an index by which it would read all changes of the resource.
--
-- A column that stands apart is written for the rows that were made or changed here, so both tables always have the same
-- keys, and the same states of them.
create or replace function plinth.project_rows(
  p_table plinth.projected_tables,
  p_after bigint,
  p_upto bigint,
  p_convert text
) returns bigint
language plpgsql
set jit = off
set enable_memoize = off
set plan_cache_mode = force_generic_plan
as $$
declare
  names text;
  made text;
  read text;
  assigned text;
  apart text := '';
  statement text;
  prepared text;
  unused text;
  applied bigint;
begin
  select coalesce(string_agg(format(', %I', c), '' order by i), ''),
      coalesce(string_agg(format(', m.%I', c), '' order by i), ''),
      coalesce(string_agg(case
        when c = any (p_table.kept) then format(', %1$I = case when r.%1$I = m.%1$I then r.%1$I else m.%1$I end', c)
        else format(', %1$I = m.%1$I', c)
      end, '' order by i), '')
    into names, read, assigned from unnest(p_table.columns) with ordinality as t (c, i);
  select coalesce(string_agg(format(', %s as %I', e, c), '' order by i), '')
    into made from unnest(p_table.expressions, p_table.columns) with ordinality as t (e, c, i);
  if p_table.apart_table is not null then
    made := made || format(', %s as apart', p_table.apart_expression);
    apart := format($q$, gone_apart as (
      delete from plinth.%1$I r using gone g where r.namespace = g.namespace and r.name = g.name
    ), changed_apart as (
      update plinth.%1$I r set %2$I = c.apart
      from changed c
      where r.namespace = c.namespace and r.name = c.name and r.%2$I is distinct from c.apart
    ), put_apart as (
      insert into plinth.%1$I (namespace, name, %2$I) select n.namespace, n.name, n.apart from new n
    )$q$, p_table.apart_table, p_table.apart_column);
  end if;
  statement := format($q$
    with last as materialized (
      select distinct on (c.namespace, c.name) c.namespace, c.name, c.uid, c.resource_version, c.type, c.data
      from plinth.changes c
      where c.resource_version > $1 and c.resource_version <= $2 and nullif(c.resource, '') = $3
        and c.quiet is distinct from coalesce($4, -1)
      order by c.namespace, c.name, c.resource_version desc
    ), gone as (
      delete from plinth.%1$I r using last l
      where l.type = 2 and r.namespace = l.namespace and r.name = l.name and r.resource_version < l.resource_version
      returning r.namespace, r.name
    ), made as materialized (
      select l.namespace, l.name, l.uid, l.resource_version, %2$s as object%3$s
      from last l
      cross join lateral (select l.data::text as data offset 0) t
      cross join lateral (select plinth.%4$I(t.data, %9$s) as converted offset 0) x
      cross join lateral (select %5$s as object offset 0) o
      where l.type <> 2
    ), changed as (
      update plinth.%1$I r set uid = m.uid, resource_version = m.resource_version, object = m.object%6$s
      from made m
      where r.namespace = m.namespace and r.name = m.name and r.resource_version < m.resource_version
      returning m.namespace, m.name%11$s
    ), new as (
      select m.* from made m
      where not exists (select from plinth.%1$I r where r.namespace = m.namespace and r.name = m.name)
    ), put as (
      insert into plinth.%1$I (namespace, name, uid, resource_version, object%7$s)
      select m.namespace, m.name, m.uid, m.resource_version, m.object%8$s from new m
      returning 1
    )%10$s
    select (select count(*) from gone) + (select count(*) from changed) + (select count(*) from put)
  $q$, p_table.table_name, p_table.stored, made, p_convert, p_table.visible, assigned, names, read,
    case when p_table.shown = 'r.object' then 'l.resource_version' else 'null' end, apart,
    case when p_table.apart_table is not null then ', m.apart' else '' end);
  if p_table.quiet is null then
    execute statement into applied using p_after, p_upto, p_table.resource, p_table.quiet;
    return applied;
  end if;
  prepared := format('rows_%s_%s', format('plinth.%I', p_table.table_name)::regclass::oid, md5(statement));
  if not exists (select from pg_prepared_statements s where s.name = prepared) then
    for unused in
      select s.name from pg_prepared_statements s where s.name like 'rows\_%'
        and not exists (select from pg_class c where c.oid::text = split_part(s.name, '_', 2))
    loop
      execute format('deallocate %I', unused);
    end loop;
    execute format('prepare %I (bigint, bigint, text, smallint) as %s', prepared, statement);
  end if;
  execute format('execute %I (%s, %s, %L, %s)', prepared, p_after, p_upto, p_table.resource, p_table.quiet) into applied;
  return applied;
end
$$;
