-- The effect of a change on an object, without the bookkeeping of every write; empty unless the change is an update.
-- Null where one of the states can't be shown. Readers call it without any other right in the schema.
create or replace function plinth.shown_diff(p_before jsonb, p_after jsonb, p_is_update boolean, p_is_hidden_changed boolean)
returns jsonb
language plpgsql stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if not p_is_update then
    return '[]';
  elsif p_before is null or p_after is null then
    return null;
  end if;
  return plinth.json_diff(plinth.without_bookkeeping(p_before), plinth.without_bookkeeping(p_after))
    || case when p_is_hidden_changed then '[{"op": "replace", "path": "data", "from": "(hidden)", "to": "(hidden)"}]'::jsonb
      else '[]' end;
end
$$;
