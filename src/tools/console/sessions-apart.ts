import type pg from 'pg';

/**
 * With these a session ends others of its role, or reads what they ask. PostgreSQL lets everybody execute them, and all
 * users of a console share one role. Each with the role whose members administrators make those who watch over others.
 */
const functions = [
  { signature: 'pg_catalog.pg_cancel_backend(int)', administrators: 'pg_signal_backend' },
  { signature: 'pg_catalog.pg_terminate_backend(int, bigint)', administrators: 'pg_signal_backend' },
  { signature: 'pg_catalog.pg_stat_get_activity(int)', administrators: 'pg_read_all_stats' },
  { signature: 'pg_catalog.pg_stat_get_backend_activity(int)', administrators: 'pg_read_all_stats' },
] as const;

/**
 * Keeps users who share a role from ending each other's queries in this database and from reading their texts. Members
 * of pg_signal_backend and pg_read_all_stats (so also of pg_monitor) can do both as before.
 *
 * @param client of a superuser: nobody else may
 */
export async function keepSessionsApart(client: Pick<pg.Client, 'query'>): Promise<void> {
  const statements = functions.flatMap(({ signature, administrators }) => [
    `grant execute on function ${signature} to ${administrators}`,
    `revoke execute on function ${signature} from public`,
  ]);
  await client.query(statements.join('; '));
}

/** Whether the role of a client may execute any of the functions that {@link keepSessionsApart} takes away. */
export async function canMeddle(client: Pick<pg.Client, 'query'>): Promise<boolean> {
  const signatures = functions.map(({ signature }) => signature);
  const { rows } = await client.query<{ can: string }>(
    `select pg_catalog.bool_or(pg_catalog.has_function_privilege(f::pg_catalog.regprocedure, 'execute'))::text as can
     from pg_catalog.unnest($1::text[]) f`,
    [signatures],
  );
  return rows[0]?.can === 'true';
}
