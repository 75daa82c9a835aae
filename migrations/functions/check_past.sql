-- Fails when the states of a resource at a version are not known.
create or replace function plinth.check_past(p_resource text, p_version bigint) returns void
language plpgsql
as $$
declare
  bounds record;
begin
  select b.floor, b.head into bounds from plinth.past_bounds(p_resource) b;
  if p_version is null then
    raise exception 'a version is required' using errcode = '22004';
  elsif p_version < bounds.floor then
    raise exception 'version % is too old; the oldest is %', p_version, bounds.floor using errcode = '22023';
  elsif p_version > bounds.head then
    raise exception 'version % is too large; the newest is %', p_version, bounds.head using errcode = '22023';
  end if;
end
$$;
