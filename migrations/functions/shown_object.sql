-- A stored text as the views show it: without the values of Secrets, with its version, null where it is encrypted or
-- jsonb can't hold it. Readers call it without any other right in the schema.
create or replace function plinth.shown_object(p_resource text, p_data json, p_version bigint) returns jsonb
language plpgsql stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  converted jsonb;
begin
  begin
    converted := plinth.to_jsonb(p_data);
  exception when data_exception or program_limit_exceeded then
    return null;
  end;
  if p_resource = 'secrets' then
    converted := plinth.secret_object(converted);
  end if;
  if jsonb_typeof(converted -> 'metadata') = 'object' then
    return jsonb_set(converted, '{metadata,resourceVersion}', to_jsonb(p_version::text));
  end if;
  return converted;
end
$$;
