import type { Client } from 'pg';

const usualMs = 10_000;

/** Runs work on a connection of its own. The driver is loaded on first use. */
export async function withClient<T>(
  url: string,
  use: (client: Client) => Promise<T>,
  connectMs: number = usualMs,
): Promise<T> {
  const [{ connectDatabase }, { databaseTargets }] = await Promise.all([
    import('./connect-database.js'),
    import('./database-targets.js'),
  ]);
  const [target] = databaseTargets(url);
  if (target === undefined) throw new Error('the URL names no database');
  const { client } = await connectDatabase({ target, config: {}, timeoutMs: connectMs });
  try {
    return await use(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}
