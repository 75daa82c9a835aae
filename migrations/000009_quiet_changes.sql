-- Changes that leave rows as they are. quiet: the number of the rule by which an update changes nothing that a row has
-- of its object; null where a row may change. Of a table of rows, the rule that its columns need: it skips the changes
-- that are quiet by it. Null for tables that take every change.
alter table plinth.changes add column quiet smallint;

alter table plinth.projected_tables add column quiet smallint;
