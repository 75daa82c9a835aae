import { randomBytes } from 'node:crypto';
import { quoteName, quoteText } from '../../base/database/sql-text.js';
import { withClient } from '../../base/database/with-client.js';
import { readerRole } from '../../storage/postgres/reader-rights.js';
import { boundReaders } from '../console/bound-readers.js';
import { keepSessionsApart } from '../console/sessions-apart.js';

const consoleRole = 'plinth_console';
const passwordBytes = 24;

/**
 * The URL with which the console of this process may query a database of our own: its role reads the views and nothing
 * else, and has a password that is new at each start and kept in memory only.
 *
 * Users of the role cannot end each other's queries, nor read their texts, nor take the locks or the disk of all.
 *
 * @param databaseUrl of a superuser; the views must exist
 */
export async function consoleDatabaseUrl(databaseUrl: string): Promise<string> {
  const password = randomBytes(passwordBytes).toString('base64url');
  const role = quoteName(consoleRole);
  await withClient(databaseUrl, async (client) => {
    const { rowCount } = await client.query('select from pg_roles where rolname = $1', [consoleRole]);
    if (rowCount === 0) await client.query(`create role ${role} login`);
    await client.query(`alter role ${role} login password ${quoteText(password)}`);
    await client.query(`grant ${quoteName(readerRole)} to ${role}`);
    await keepSessionsApart(client);
    await boundReaders(client, consoleRole);
  });
  const url = new URL(databaseUrl);
  url.username = consoleRole;
  url.password = password;
  return url.href;
}
