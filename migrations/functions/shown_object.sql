-- A stored text as the views show it: without the values of Secrets, null where it is encrypted or jsonb can't hold it.
create or replace function plinth.shown_object(p_resource text, p_data json, p_version bigint) returns jsonb
language plpgsql stable
as $$
declare
  converted constant jsonb := plinth.safe_jsonb(p_data);
begin
  return plinth.versioned_object(
    case when p_resource = 'secrets' then plinth.secret_object(converted) else converted end, p_version);
end
$$;
