-- The role whose rights count inside a function that runs with those of its owner: the role that was set, otherwise
-- that of the login.
create or replace function plinth.reading_role() returns name
language sql stable
return case
  when current_setting('role') = 'none' then session_user
  else current_setting('role')::name
end;
