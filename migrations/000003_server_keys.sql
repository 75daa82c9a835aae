-- Secrets that every process of a cluster has to share, made once. Read by the owner of the schema only.
create table plinth.server_keys (
  name text primary key,
  value bytea not null check (length(value) >= 32)
);
revoke all on plinth.server_keys from public;

-- Signs continue tokens of lists. A uuid has 122 random bits from the strong generator of the server.
insert into plinth.server_keys (name, value) values (
  'continue-token',
  sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8'))
);
