-- Like plinth.row_object, and null for what jsonb can't hold: json takes numbers of any size. Not for parallel workers, which
-- can't catch errors before PostgreSQL 17.
create or replace function plinth.safe_row_object(p_text text, p_version bigint) returns jsonb
language plpgsql immutable
as $$
begin
  return plinth.row_object(p_text, p_version);
exception when data_exception or program_limit_exceeded then
  return null;
end
$$;
