-- The changes of objects after version a and up to version b, in all resources that the caller may read, or in one: one
-- row per changed object. verb: created, updated, deleted; replaced where another object of the same name took its
-- place; passing for an object that existed only in between.
--
-- Like cluster.as_of, it is inlined into the calling query: states and their difference are only computed where the
-- query uses them, and after conditions on the other columns.
create or replace function cluster.changes_between(
  a bigint,
  b bigint,
  in_resource text default null,
  in_namespace text default null,
  object_name text default null
) returns table (resource text, namespace text, name text, verb text, changes bigint, version bigint, at timestamptz,
  manager text, diff jsonb, before jsonb, after jsonb)
language sql stable
begin atomic
  select c.resource, c.namespace, c.name, c.verb, c.changes, c.version, c.at,
    case when c.verb <> all ('{deleted,passing}') then plinth.field_manager(s.before, s.after) end,
    plinth.shown_diff(s.before, s.after, c.verb = any ('{updated,replaced}'), c.is_hidden_changed),
    s.before, s.after
  from plinth.past_changes(a, b, in_resource, in_namespace, object_name) c
  cross join lateral (
    select plinth.shown_object('', c.before, c.before_version) as before,
      plinth.shown_object('', c.after, c.version) as after
    offset 0) s;
end;
