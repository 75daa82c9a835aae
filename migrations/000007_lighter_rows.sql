-- Rows that cost less to keep. kept: columns whose old value stays in place where the new one equals it, so that neither
-- their indexes nor what stands outside the row is written again. stored: what the column object has of the object.
-- shown: the whole object of a row r. Tables of the release before are kept up until they have been filled anew.
alter table plinth.projected_tables
  add column kept text[] not null default '{}',
  add column stored text not null default 'o.object',
  add column shown text not null default 'r.object';
