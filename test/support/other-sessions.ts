import pg from 'pg';
import { eventually } from '../e2e/support/test-cluster.js';

/** Resolves when no program has a session in the database any more. Sessions end some time after their connections. */
export async function untilNoSessions(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const others = `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
      and backend_type = 'client backend'`;
    await eventually(async () => (await client.query(others)).rowCount === 0, 'the end of all sessions');
  } finally {
    await client.end();
  }
}
