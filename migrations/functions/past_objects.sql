-- The objects behind cluster.as_of: those of a resource that the caller may read, as they were at a version; if wanted,
-- only in one namespace, of one name, or with some labels. Fails for a version that is older than the history, or not
-- reached yet. The object is in data, as its stored text, or in shown, where a row of the projection has it.
create or replace function plinth.past_objects(
  p_resource text,
  p_version bigint,
  p_namespace text,
  p_name text,
  p_labels jsonb
) returns table (namespace text, name text, uid text, resource_version bigint, data json, shown jsonb)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set jit = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  stored constant text := plinth.readable_resource(p_resource);
  from_name constant text := case when p_namespace is null then '' else coalesce(p_name, '') end;
  to_namespace constant text := case
    when p_namespace is null then U&'\+10FFFF'
    when p_name is null then p_namespace || U&'\0001'
    else p_namespace
  end;
  to_name constant text := case when p_namespace is null or p_name is null then '' else p_name || U&'\0001' end;
  -- Parts that the text of an object with these labels contains, unless it has escapes. None for Secrets: the time of
  -- the answer would reveal whether a guessed value is right.
  parts constant text[] := (select array_agg(v.value::text) from jsonb_each(p_labels) v
    where stored <> 'secrets' and jsonb_typeof(p_labels) = 'object' and jsonb_typeof(v.value) = 'string');
  rows_table text;
  row_object text;
begin
  perform plinth.check_past(stored, p_version);
  -- A version of an object has one state only, so its row is right however far the rows are behind.
  select t.table_name, t.shown into rows_table, row_object from plinth.projected_tables t, plinth.projection p, plinth.epoch e
    where t.resource = stored and t.visible = 'x.converted' and t.quiet is null and p.position >= 0 and p.epoch = e.epoch;
  return query execute format($q$
    select nullif(p.namespace, ''), p.name, p.uid, p.resource_version,
      case when %4$s is null then plinth.readable_text($1, p.data) end, %1$s
    from plinth.past_page($1, $2, $3, $4, $5, $6, $7, null) p%2$s
    where p.name is not null%3$s
  $q$,
    coalesce(row_object, 'null::jsonb'),
    case when rows_table is not null then format(' left join plinth.%I r on r.namespace = p.namespace and r.name = p.name '
      'and r.resource_version = p.resource_version and r.uid = p.uid', rows_table) end,
    case when p_labels is not null then '
      and (select coalesce(bool_and(strpos(p.data::text, s) > 0), true) or strpos(p.data::text, ''\u'') > 0 from unnest($8) s)
      and plinth.object_labels(plinth.readable_text($1, p.data)) @> $9' end,
    case when rows_table is null then 'null::jsonb' else 'r.object' end)
    using stored, coalesce(p_namespace, ''), from_name, to_namespace, to_name, p_name, p_version, parts, p_labels;
  -- Partitions that were dropped meanwhile may be missing from the result.
  perform plinth.check_past(stored, p_version);
end
$$;
