-- Creates the publications that replicas subscribe to: the objects, and the log, of which only additions are published,
-- since a replica drops old parts itself. Resources that are left out never leave the database; that needs PostgreSQL
-- 15. Existing publications stay as they are.
create or replace function plinth.publish(p_without text[]) returns void
language plpgsql
as $$
declare
  filter constant text := case when cardinality(p_without) > 0 then format(' where (resource <> all (%L::text[]))', p_without) else '' end;
begin
  if not exists (select from pg_publication p where p.pubname = 'plinth_objects') then
    execute 'create publication plinth_objects for table plinth.objects' || filter;
  end if;
  if not exists (select from pg_publication p where p.pubname = 'plinth_log') then
    execute format('create publication plinth_log for table plinth.changes%s, plinth.change_partitions '
      'with (publish = ''insert, update'', publish_via_partition_root = true)', filter);
  end if;
end
$$;
