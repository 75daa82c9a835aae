-- The objects of a resource as they were at a version: all, or those of a namespace, of a name, with labels. Fails for
-- a version that is older than the history, or not reached yet. Secrets and encrypted objects are shown as their views
-- show them.
--
-- PostgreSQL inlines it into the calling query, so columns that the query does not use are not computed. It therefore
-- runs with the rights of the caller, and everything that needs other rights is in plinth.past_objects.
create or replace function cluster.as_of(
  resource text,
  version bigint,
  in_namespace text default null,
  object_name text default null,
  with_labels jsonb default null
) returns table (namespace text, name text, uid text, resource_version bigint, labels jsonb, object jsonb)
language sql stable
begin atomic
  select p.namespace, p.name, p.uid, p.resource_version,
    case when p.shown is null then plinth.object_labels(p.data) else p.shown #> '{metadata,labels}' end,
    case when p.shown is null then plinth.shown_object('', p.data, p.resource_version) else p.shown end
  from plinth.past_objects(as_of.resource, as_of.version, as_of.in_namespace, as_of.object_name, as_of.with_labels) p;
end;
