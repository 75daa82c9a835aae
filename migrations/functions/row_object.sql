-- Stored text as the jsonb of a row: like plinth.to_jsonb, with the version if one is given. Null for a text that is
-- encrypted.
--
-- The text is not compressed, so using it several times costs nothing. The version is written into most texts before
-- they are parsed, which costs a third of setting it afterwards: into those whose first inner brace is that of metadata
-- with members.
--
-- PostgreSQL writes this function into the statement that calls it only as long as nothing here is less than immutable, as
-- a number joined to a text is. A call costs as much as half of the parsing.
create or replace function plinth.row_object(p_text text, p_version bigint) returns jsonb
language sql immutable parallel safe
return case
  when starts_with(p_text, '"enc:') then null
  when p_text like '%\\u%' and p_version is null then plinth.to_jsonb(p_text::json)
  when p_text like '%\\u%' then plinth.versioned_object(plinth.to_jsonb(p_text::json), p_version)
  when p_version is null then p_text::jsonb
  when strpos(substr(p_text, 2, 200), '"metadata":{"') > 0
      and strpos(substr(p_text, 2, 200), '{') = strpos(substr(p_text, 2, 200), '"metadata":{"') + 11
      and p_text not like '%"resourceVersion"%'
    then overlay(p_text placing '{"resourceVersion":"' || p_version::text || '",'
      from strpos(substr(p_text, 2, 200), '"metadata":{"') + 12 for 1)::jsonb
  else plinth.versioned_object(p_text::jsonb, p_version)
end;
