-- A stored text that may be shown to readers of its resource: null where it is encrypted, and of a Secret only the visible
-- part.
create or replace function plinth.readable_text(p_resource text, p_data json) returns json
language sql stable
return case
  when substr(p_data::text, 1, 5) = '"enc:' then null
  when p_resource = 'secrets' then plinth.secret_object(plinth.safe_jsonb(p_data))::json
  else p_data
end;
