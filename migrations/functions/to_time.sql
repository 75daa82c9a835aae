-- A timestamp of the API; null for any other text.
create or replace function plinth.to_time(p_text text) returns timestamptz
language sql stable parallel safe
return case
  when p_text ~ '^(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,6})?Z$'
    then p_text::timestamptz
end;
