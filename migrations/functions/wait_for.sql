-- Returns when the rows of schema cluster show the version, or a newer one. Fails after p_timeout. Where the views read the
-- objects themselves, they always show everything that is there.
create or replace function cluster.wait_for(version bigint, timeout interval default '30 seconds') returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  deadline constant timestamptz := clock_timestamp() + least(timeout, interval '10 minutes');
begin
  -- A replica must have received the version before its rows, or its objects, show it.
  while exists (select from plinth.projected_tables) and not exists (
    select from plinth.projection p where p.position >= version
      and not exists (select from plinth.projected_tables t where t.own_position < version))
    or exists (select from plinth.replica) and (select b.head from plinth.log_bounds() b) < version loop
    if clock_timestamp() > deadline then
      raise exception 'the rows do not show version % yet', version using errcode = '57014';
    end if;
    perform pg_sleep(0.02);
  end loop;
end
$$;
