-- Annotations of a Secret without those that repeat the object: clients keep whole manifests in them, as JSON or YAML, or packed
-- and encoded. Long opaque texts are taken for such.
create or replace function plinth.secret_annotations(p_annotations jsonb) returns jsonb
language sql immutable parallel safe
return (
  select jsonb_object_agg(a.key, case
    when a.key like '%/last-applied-configuration'
      -- JSON; YAML; PEM
      or a.value #>> '{}' ~ '^\s*[[{]|(^|\n)\s*["'']?(data|stringData)["'']?\s*:|-----BEGIN '
      -- base64 of gzip, zlib, zstd, JSON, YAML, PEM and of these in base64
      or a.value #>> '{}' ~ '^\s*(H4sI|SDRzSU|KLUv|e(AE|F4|J|No)|e(y[AIJ]|w[0ko])|W(3s|y[AIJ]|wo)|YXBpVmVyc2lvbj|a2luZD|ZGF0YT|c3RyaW5nRGF0YT|LS0t)[A-Za-z0-9+/=_\s-]*$'
      or a.value #>> '{}' ~ '[A-Za-z0-9+/_-]{76}'
      then '"(hidden)"'::jsonb
    else a.value
  end)
  from jsonb_each(case when jsonb_typeof(p_annotations) = 'object' then p_annotations end) a
);
