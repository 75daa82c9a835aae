import type { Client } from 'pg';

/** Runs work on a connection of its own. */
export async function withClient<T>(url: string, use: (client: Client) => Promise<T>): Promise<T> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  // Errors of the connection also reject the call that waits for it.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await use(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** The URL of another database on the same server. */
export function databaseAt(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

/** Drops the database of that name, or all whose names begin so. Their sessions end. */
export async function dropDatabases(adminUrl: string, start: string, exact = false): Promise<void> {
  await withClient(adminUrl, async (client) => {
    const { rows } = await client.query<{ datname: string }>(
      `select datname from pg_database where ${exact ? 'datname = $1' : 'starts_with(datname, $1)'}`,
      [start],
    );
    for (const { datname } of rows) await client.query(`drop database if exists "${datname}" with (force)`);
  });
}
