-- What a change did to an object, besides the bookkeeping of every write. Values of Secrets are hidden: that they changed is
-- told.
create or replace function plinth.object_diff(
  p_resource text, p_before json, p_after json, p_before_version bigint, p_after_version bigint
) returns jsonb
language plpgsql stable
as $$
declare
  before constant jsonb := plinth.shown_object(p_resource, p_before, p_before_version)
    #- '{metadata,managedFields}' #- '{metadata,resourceVersion}';
  after constant jsonb := plinth.shown_object(p_resource, p_after, p_after_version)
    #- '{metadata,managedFields}' #- '{metadata,resourceVersion}';
  result jsonb;
begin
  if (p_before is not null and before is null) or (p_after is not null and after is null) then
    return null;
  end if;
  if before is null or after is null then
    return '[]';
  end if;
  result := plinth.json_diff(before, after);
  if p_resource = 'secrets'
    and plinth.safe_jsonb(p_before) -> 'data' is distinct from plinth.safe_jsonb(p_after) -> 'data' then
    result := result || '[{"op": "replace", "path": "data", "from": "(hidden)", "to": "(hidden)"}]';
  end if;
  return result;
end
$$;
