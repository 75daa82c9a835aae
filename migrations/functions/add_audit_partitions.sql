-- Makes sure that there is a partition for every day (UTC) from p_from to p_until.
create or replace function plinth.add_audit_partitions(p_from date, p_until date) returns void
language plpgsql as $$
declare
  day date := p_from;
  partition text;
begin
  lock table plinth.lock_audit in exclusive mode;
  while day <= p_until loop
    partition := 'audit_' || to_char(day, 'YYYYMMDD');
    if to_regclass('plinth.' || partition) is null then
      execute format(
        'create table plinth.%I (like plinth.audit_events including defaults including storage including compression)',
        partition);
      execute format('alter table plinth.audit_events attach partition plinth.%I for values from (%L) to (%L)',
        partition, day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC');
    end if;
    day := day + 1;
  end loop;
end
$$;
