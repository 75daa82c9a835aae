-- The labels of a stored text; converts the whole text only where that is needed.
create or replace function plinth.object_labels(p_data json) returns jsonb
language sql stable
return case
  when substr(p_data::text, 1, 5) = '"enc:' then null
  when strpos(p_data::text, '\u') = 0 then (p_data #> '{metadata,labels}')::jsonb
  else plinth.shown_object('', p_data, 1) #> '{metadata,labels}'
end;
