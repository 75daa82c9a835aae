-- What differs between two values, as a list of {op, path, from, to}; op is add, remove or replace. Elements of lists are
-- told by their name, type, uid or key where each has one of its own: `spec.containers[name=web].image`. Other lists are
-- compared place by place.
create or replace function plinth.json_diff(p_from jsonb, p_to jsonb, p_path text default '') returns jsonb
language plpgsql immutable
as $$
declare
  result jsonb := '[]';
  field text;
  mark text;
  element record;
begin
  if p_from is not distinct from p_to then
    return result;
  end if;
  if p_from is null then
    return jsonb_build_array(jsonb_build_object('op', 'add', 'path', p_path, 'to', p_to));
  end if;
  if p_to is null then
    return jsonb_build_array(jsonb_build_object('op', 'remove', 'path', p_path, 'from', p_from));
  end if;
  if jsonb_typeof(p_from) = 'object' and jsonb_typeof(p_to) = 'object' then
    for field in
      select k.key from (select jsonb_object_keys(p_from) as key union select jsonb_object_keys(p_to)) k
      where p_from -> k.key is distinct from p_to -> k.key order by k.key collate "C"
    loop
      result := result || plinth.json_diff(p_from -> field, p_to -> field, case
        when field !~ '^[A-Za-z0-9_-]+$' then p_path || '[' || to_jsonb(field)::text || ']'
        when p_path = '' then field
        else p_path || '.' || field
      end);
    end loop;
    return result;
  end if;
  if jsonb_typeof(p_from) = 'array' and jsonb_typeof(p_to) = 'array' then
    foreach mark in array array['name', 'type', 'uid', 'key'] loop
      if (
        select bool_and(jsonb_typeof(e -> mark) = 'string') and count(distinct (s.side, e ->> mark)) = count(*)
        from (values (1, p_from), (2, p_to)) s (side, list), jsonb_array_elements(s.list) e
      ) then
        for element in
          select coalesce(a.e ->> mark, b.e ->> mark) as value, a.e as before, b.e as after
          from jsonb_array_elements(p_from) with ordinality a (e, i)
          full join jsonb_array_elements(p_to) with ordinality b (e, i) on a.e ->> mark = b.e ->> mark
          where a.e is distinct from b.e
          order by coalesce(b.i, a.i)
        loop
          result := result || plinth.json_diff(element.before, element.after,
            p_path || '[' || mark || '=' || element.value || ']');
        end loop;
        -- Only the order differs.
        if result = '[]' then
          exit;
        end if;
        return result;
      end if;
    end loop;
    if result = '[]' and jsonb_array_length(p_from) = jsonb_array_length(p_to) or not p_from @> '[{}]' then
      for element in
        select i, p_from -> i as before, p_to -> i as after
        from generate_series(0, greatest(jsonb_array_length(p_from), jsonb_array_length(p_to)) - 1) i
        where p_from -> i is distinct from p_to -> i
      loop
        result := result || plinth.json_diff(element.before, element.after, p_path || '[' || element.i || ']');
      end loop;
      return result;
    end if;
  end if;
  return jsonb_build_array(jsonb_build_object('op', 'replace', 'path', p_path, 'from', p_from, 'to', p_to));
end
$$;
