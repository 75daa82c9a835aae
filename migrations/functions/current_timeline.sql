-- The timeline being written, as its eight hexadecimal digits; null where the server does not report it.
create or replace function plinth.current_timeline() returns integer
language plpgsql
as $$
begin
  return ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::integer;
exception when others then
  return null;
end
$$;
