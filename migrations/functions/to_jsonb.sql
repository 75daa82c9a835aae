-- Stored text as jsonb. jsonb refuses the escape of the NUL character and lone surrogates, which json accepts: each
-- such escape becomes U+FFFD. A pair of surrogates is written as one character, so escapes of surrogates are rare. Null
-- for a text that is encrypted.
--
-- Each use of the text decompresses it again, so most texts are used three times only, and the first time only their
-- beginning. LIKE looks at a tenth of the cost of strpos, which counts the characters of a UTF-8 text.
create or replace function plinth.to_jsonb(p_json json) returns jsonb
language sql immutable parallel safe
return case
  when substr(p_json::text, 1, 5) = '"enc:' then null
  when p_json::text not like '%\\u%' then p_json::jsonb
  when strpos(p_json::text, '\u0000') = 0 and strpos(p_json::text, '\ud') = 0 and strpos(p_json::text, '\uD') = 0
    then p_json::jsonb
  else regexp_replace(
    p_json::text,
    '(?<!\\)((?:\\\\)*)\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})',
    '\1\\ufffd',
    'g'
  )::jsonb
end;
