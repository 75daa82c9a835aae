-- Like plinth.project_rows; objects that jsonb can't hold have rows without an object and hold up nothing.
create or replace function plinth.project_some(p_table plinth.projected_tables, p_after bigint, p_upto bigint) returns bigint
language plpgsql
as $$
begin
  return plinth.project_rows(p_table, p_after, p_upto, 'row_object');
exception when data_exception or program_limit_exceeded then
  return plinth.project_rows(p_table, p_after, p_upto, 'safe_row_object');
end
$$;
