-- Makes sure that p_ahead partitions lie ahead of the sequence. A range that the sequence has jumped over gets none.
-- Partitions are built separately and then attached: unlike CREATE TABLE ... PARTITION OF, attaching blocks neither
-- readers nor writers.
create or replace function plinth.add_change_partitions(p_ahead integer) returns void
language plpgsql as $$
declare
  width constant bigint := 1 << 20;
  reached bigint;
  next_lower bigint;
  partition text;
begin
  lock table plinth.lock_partitions in exclusive mode;
  select s.last_value into reached from plinth.resource_version s;
  select coalesce(max(p.upper), 0) into next_lower from plinth.change_partitions p;
  next_lower := greatest(next_lower, reached / width * width);
  while next_lower <= reached + p_ahead * width loop
    partition := 'changes_' || next_lower;
    execute format(
      'create table plinth.%I (like plinth.changes including defaults including storage including compression)'
      ' with (autovacuum_enabled = off)', partition);
    execute format('alter table plinth.changes attach partition plinth.%I for values from (%s) to (%s)',
      partition, next_lower, next_lower + width);
    insert into plinth.change_partitions (lower, upper) values (next_lower, next_lower + width);
    next_lower := next_lower + width;
  end loop;
end
$$;
