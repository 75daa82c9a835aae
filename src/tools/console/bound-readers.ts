import type pg from 'pg';
import { quoteName } from '../../base/database/sql-text.js';

/** Room on the disk for what one query of the role sorts or joins. */
const tempFileLimit = '1GB';

/**
 * Keeps whoever asks as a role from taking what all sessions of the server share: room in the table of locks, which a few
 * thousand advisory locks fill, and room on the disk: temporary files, and messages in the write-ahead log, of which a
 * read-only transaction can write 100 MB a second. Nobody but superusers can take advisory locks or write such messages
 * in this database afterwards.
 *
 * @param client of a superuser: nobody else may
 */
export async function boundReaders(client: Pick<pg.Client, 'query'>, role: string): Promise<void> {
  await client.query(`do $$ declare f regprocedure; begin
    for f in select p.oid from pg_catalog.pg_proc p
      where p.pronamespace = 'pg_catalog'::regnamespace 
        and p.proname ~ '^pg_((try_)?advisory_(xact_)?lock|logical_emit_message$)' loop
      execute format('revoke execute on function %s from public', f);
    end loop;
  end $$`);
  await client.query(`alter role ${quoteName(role)} set temp_file_limit = '${tempFileLimit}'`);
}
