-- The result of plinth.json_diff, as an array. It is bounded, so that one object can't make a query about many objects
-- fail: a value that differs in more than 1000 places, or lies deeper than 64 levels, is replaced as a whole, and long
-- keys are cut.
--
-- Comparisons call it for every object, so it avoids queries: an expression with a query takes ten times as long as one
-- without.
create or replace function plinth.json_differences(p_from jsonb, p_to jsonb, p_path text, p_depth integer) returns jsonb[]
language plpgsql immutable
as $$
declare
  most constant integer := 1000;
  result jsonb[] := '{}';
  fields text[];
  field text;
  mark text;
  element record;
  size integer;
  marks jsonb;
  marks_path jsonpath;
  below jsonb[];
  difference jsonb;
begin
  if p_from is not distinct from p_to then
    return result;
  end if;
  if p_from is null then
    return array[jsonb_build_object('op', 'add', 'path', p_path, 'to', p_to)];
  end if;
  if p_to is null then
    return array[jsonb_build_object('op', 'remove', 'path', p_path, 'from', p_from)];
  end if;
  <<places>>
  begin
    exit places when p_depth >= 64;
    if jsonb_typeof(p_from) = 'object' and jsonb_typeof(p_to) = 'object' then
      fields := array(
        select k.key from (
          select f.key from jsonb_object_keys(p_from) f (key)
          union all
          select t.key from jsonb_object_keys(p_to) t (key) where not p_from ? t.key
        ) k
        where p_from -> k.key is distinct from p_to -> k.key order by k.key collate "C");
      exit places when cardinality(fields) > most;
      foreach field in array fields loop
        below := plinth.json_differences(p_from -> field, p_to -> field, case
          when length(field) > 400 then p_path || '[' || to_jsonb(left(field, 400) || '...')::text || ']'
          when field !~ '^[A-Za-z0-9_-]+$' then p_path || '[' || to_jsonb(field)::text || ']'
          when p_path = '' then field
          else p_path || '.' || field
        end, p_depth + 1);
        foreach difference in array below loop
          result := array_append(result, difference);
        end loop;
        exit places when cardinality(result) > most;
      end loop;
      return result;
    end if;
    if jsonb_typeof(p_from) = 'array' and jsonb_typeof(p_to) = 'array' then
      size := jsonb_array_length(p_from);
      foreach mark in array array['name', 'type', 'uid', 'key'] loop
        continue when size > 0 and jsonb_typeof(p_from -> 0 -> mark) is distinct from 'string';
        marks_path := ('strict $[*].' || mark)::jsonpath;
        marks := jsonb_path_query_array(p_from, marks_path, silent => true);
        -- The usual case: the same elements at the same places.
        if size = jsonb_array_length(p_to) and size = jsonb_array_length(marks)
          and marks = jsonb_path_query_array(p_to, marks_path, silent => true)
          and not jsonb_path_exists(marks, '$[*] ? (@.type() != "string")')
          and (size = 1 or (select count(distinct m.value) from jsonb_array_elements(marks) m) = size) then
          for place in 0 .. size - 1 loop
            if p_from -> place <> p_to -> place then
              below := plinth.json_differences(p_from -> place, p_to -> place,
                p_path || '[' || mark || '=' || left(marks ->> place, 400) || ']', p_depth + 1);
              foreach difference in array below loop
                result := array_append(result, difference);
              end loop;
              exit places when cardinality(result) > most;
            end if;
          end loop;
          return result;
        end if;
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
            below := plinth.json_differences(element.before, element.after,
              p_path || '[' || mark || '=' || left(element.value, 400) || ']', p_depth + 1);
            foreach difference in array below loop
              result := array_append(result, difference);
            end loop;
            exit places when cardinality(result) > most;
          end loop;
          -- Only the order differs.
          if cardinality(result) = 0 then
            exit;
          end if;
          return result;
        end if;
      end loop;
      if cardinality(result) = 0 and jsonb_array_length(p_from) = jsonb_array_length(p_to) or not p_from @> '[{}]' then
        for element in
          select i, p_from -> i as before, p_to -> i as after
          from generate_series(0, greatest(jsonb_array_length(p_from), jsonb_array_length(p_to)) - 1) i
          where p_from -> i is distinct from p_to -> i
        loop
          below := plinth.json_differences(element.before, element.after, p_path || '[' || element.i || ']', p_depth + 1);
          foreach difference in array below loop
            result := array_append(result, difference);
          end loop;
          exit places when cardinality(result) > most;
        end loop;
        return result;
      end if;
    end if;
  end places;
  return array[jsonb_build_object('op', 'replace', 'path', p_path, 'from', p_from, 'to', p_to)];
end
$$;
