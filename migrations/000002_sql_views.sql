-- What the readable views of schema cluster are made with. The views themselves follow the kinds that are served and
-- are written by the program.

create schema if not exists cluster;
comment on schema cluster is 'One view per kind of the cluster API. Written by plinth, read with the role plinth_reader.';

revoke all on schema plinth, cluster from public;
revoke all on all tables in schema plinth from public;
revoke execute on all functions in schema plinth from public;

-- The views this program made: others in the schema are left alone.
create table plinth.sql_views (
  name text primary key,
  digest text not null
);

-- digest: of the whole set of views, so that a start finds out with one read that nothing is to be done. reader: the
-- role the rights were given to; a role made anew has none.
create table plinth.sql_views_state (
  singleton boolean primary key default true check (singleton),
  digest text not null,
  reader oid
);
insert into plinth.sql_views_state (digest) values ('');

-- The functions below have bodies that are parsed here and now: whatever search_path a reader sets, he can't put
-- functions of his own in the place of those they call. Readers need EXECUTE on them, since a view checks that right
-- against its user; they can't name them, having no right on the schema.

-- Stored text as jsonb. jsonb refuses the escape of the NUL character and lone surrogates, which json accepts: each
-- such escape becomes U+FFFD. A pair of surrogates is written as one character, so escapes of surrogates are rare.
create function plinth.to_jsonb(p_json json) returns jsonb
language sql immutable parallel safe
return case
  when strpos(p_json::text, '\u0000') = 0 and strpos(p_json::text, '\ud') = 0 and strpos(p_json::text, '\uD') = 0
    then p_json::jsonb
  else regexp_replace(
    p_json::text,
    '(?<!\\)((?:\\\\)*)\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})',
    '\1\\ufffd',
    'g'
  )::jsonb
end;

-- A timestamp of the API; null for text that is none.
create function plinth.to_time(p_text text) returns timestamptz
language sql stable parallel safe
return case
  when p_text ~ '^(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,6})?Z$'
    then p_text::timestamptz
end;

-- Annotations of a Secret without those that repeat the object: clients keep whole manifests in them.
create function plinth.secret_annotations(p_annotations jsonb) returns jsonb
language sql immutable parallel safe
return (
  select jsonb_object_agg(a.key, case
    when a.key like '%/last-applied-configuration' or a.value #>> '{}' ~ '^\s*[[{]' then '"(hidden)"'::jsonb
    else a.value
  end)
  from jsonb_each(case when jsonb_typeof(p_annotations) = 'object' then p_annotations end) a
);

-- What of a Secret may be seen. Named field by field, so that nothing shows because it was forgotten.
create function plinth.secret_object(p_object jsonb) returns jsonb
language sql immutable parallel safe
return jsonb_build_object('kind', p_object -> 'kind', 'apiVersion', p_object -> 'apiVersion')
  || jsonb_build_object('metadata', case
    when p_object #> '{metadata,annotations}' is null then p_object -> 'metadata'
    else jsonb_set(p_object -> 'metadata', '{annotations}',
      coalesce(plinth.secret_annotations(p_object #> '{metadata,annotations}'), '{}'))
  end)
  || jsonb_build_object('type', p_object -> 'type')
  || case when p_object ? 'immutable' then jsonb_build_object('immutable', p_object -> 'immutable') else '{}' end;

-- The keys of a map, in order; null when there is none.
create function plinth.json_keys(p_map jsonb) returns text[]
language sql immutable parallel safe
return (
  select array_agg(k.key order by k.key collate "C")
  from jsonb_object_keys(case when jsonb_typeof(p_map) = 'object' then p_map end) k (key)
);
