-- Like plinth.to_jsonb, and null for what jsonb can't hold: json takes numbers of any size. Not for parallel workers, which can't
-- catch errors before PostgreSQL 17.
create or replace function plinth.safe_jsonb(p_json json) returns jsonb
language plpgsql stable
as $$
begin
  return plinth.to_jsonb(p_json);
exception when data_exception or program_limit_exceeded then
  return null;
end
$$;
