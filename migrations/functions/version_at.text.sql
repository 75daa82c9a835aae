-- A moment as people write it: a version (`48211`), a span before now (`2h-ago`, `30m ago`, `1d 12h ago`), or a time that
-- PostgreSQL understands.
create or replace function cluster.version_at(moment text) returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if moment ~ '^\s*[0-9]{1,18}\s*$' then
    return moment::bigint;
  end if;
  if moment ~ '^\s*([0-9]{1,9}\s*[a-z]{1,8}\s*){1,6}[\s-]ago\s*$' then
    return cluster.version_at(clock_timestamp() - regexp_replace(regexp_replace(moment, '[\s-]ago\s*$', ''),
      '(?<=[0-9])\s*m(?=[\s0-9]|$)', ' min', 'g')::interval);
  end if;
  return cluster.version_at(moment::timestamptz);
end
$$;
