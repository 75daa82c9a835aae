-- Functions of the past that ask for more than they did: by name and labels. They are made anew with these arguments.

drop function if exists cluster.as_of(text, bigint, text);
drop function if exists cluster.as_of(text, timestamptz, text);
drop function if exists cluster.as_of(text, text, text);
drop function if exists cluster.changes_between(bigint, bigint, text, text);
drop function if exists cluster.changes_between(timestamptz, timestamptz, text, text);
drop function if exists cluster.changes_between(text, text, text, text);
drop function if exists plinth.kept_change(bigint);
drop function if exists plinth.object_diff(text, json, json, bigint, bigint);
