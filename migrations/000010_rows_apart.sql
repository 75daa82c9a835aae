-- Rows whose largest index does not change with the other columns. apart_table: where a column stands in a table of its
-- own, that table; its rows have the keys of those of table_name. apart_column, apart_expression: the column, and how it
-- is made of the object.
alter table plinth.projected_tables
  add column apart_table text,
  add column apart_column text,
  add column apart_expression text;
