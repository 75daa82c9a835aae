import { withClient } from '../../../base/database/with-client.js';

/** The URL of another database on the same server. */
export function databaseAt(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

/** Drops the database of that name, or all whose names begin with it. Their sessions end. */
export async function dropDatabases(adminUrl: string, start: string, exact = false): Promise<void> {
  await withClient(adminUrl, async (client) => {
    const { rows } = await client.query<{ datname: string }>(
      `select datname from pg_database where ${exact ? 'datname = $1' : 'starts_with(datname, $1)'}`,
      [start],
    );
    for (const { datname } of rows) await client.query(`drop database if exists "${datname}" with (force)`);
  });
}
