import { environment } from '../../base/config/environment.js';
import { sqlState } from '../../base/database/sql-state.js';
import { quoteName, quoteText } from '../../base/database/sql-text.js';
import { StartupError } from '../../base/machinery/startup-error.js';
import { silentObserver } from './postgres-storage-options.js';
import { Session } from './session.js';

export interface ReplicaSettings {
  readonly databaseUrl: string;
  readonly primaryDatabaseUrl: string | undefined;
  /** Name of the subscription and its slot. */
  readonly name: string;
  /** Resources that are not replicated. */
  readonly without: readonly string[];
}

const timeoutMs = 60_000;
/** Creating the slot waits for the open transactions of the primary. */
const subscribeTimeoutMs = 600_000;

/**
 * Makes a migrated database follow the servers' database, unless it does already: publishes there what replicas need,
 * and subscribes to it here. May be repeated after it failed.
 *
 * @returns whether a subscription was created
 * @throws StartupError when one of the two databases can't be used for it.
 */
export async function subscribe(settings: ReplicaSettings): Promise<boolean> {
  const { databaseUrl, primaryDatabaseUrl, name, without } = settings;
  return withSession(databaseUrl, async (session) => {
    const [own] = await ask(
      session,
      `select r.subscription, exists (select from pg_subscription s join pg_database d on d.oid = s.subdbid
         where d.datname = current_database() and s.subname = ${quoteText(name)})
       from (values (1)) one left join plinth.replica r on true`,
    );
    const follows = own?.[0] ?? undefined;
    if (follows !== undefined && follows !== name) {
      throw new StartupError(`the database is the replica ${JSON.stringify(follows)}: --replica-name has to say so`);
    }
    if (follows !== undefined && own?.[1] === 't') return false;
    if (primaryDatabaseUrl === undefined) {
      throw new StartupError('the database follows no other yet: the first start needs --primary-database-url');
    }
    await withSession(primaryDatabaseUrl, (primary) => publish(primary, without));
    await ask(session, `select plinth.prepare_replica(${quoteText(name)})`);
    // Can't be part of a transaction, since it creates the slot on the other server.
    const sql = `create subscription ${quoteName(name)} connection ${quoteText(libpqUrl(primaryDatabaseUrl))}
      publication plinth_objects, plinth_log`;
    await session.execute('subscribe', sql, subscribeTimeoutMs);
    return true;
  });
}

/** Whether the replica has received everything that existed when it subscribed, and can be read. */
export async function hasBegun(databaseUrl: string): Promise<boolean> {
  return withSession(databaseUrl, async (session) => {
    const [row] = await ask(session, 'select plinth.begin_replica()');
    return row?.[0] === 't';
  });
}

async function publish(primary: Session, without: readonly string[]): Promise<void> {
  const [state] = await ask(
    primary,
    `select current_setting('wal_level'), (select count(*) from pg_publication p where p.pubname like 'plinth\\_%'),
       current_setting('server_version_num')`,
  );
  const [level, count, version] = state ?? [];
  if (level !== 'logical') {
    throw new StartupError(`the database of the servers has wal_level ${level}: set it to logical and start it again`);
  }
  // Both publications exist already: the role of the URL then only needs the right to subscribe.
  if (count === '2') return;
  const [epoch] = await ask(primary, 'select e.replica from plinth.epoch e');
  if (epoch?.[0] === 't') throw new StartupError('--primary-database-url leads to a replica');
  if (without.length > 0 && Number(version) < 150_000) {
    throw new StartupError('--replica-without needs PostgreSQL 15 in the database of the servers');
  }
  const resources = without.map(quoteText).join(', ');
  await ask(primary, `select plinth.publish(array[${resources}]::text[])`);
}

async function withSession<T>(url: string, work: (session: Session) => Promise<T>): Promise<T> {
  const session = await Session.open({
    url,
    applicationName: 'plinth replica',
    connectTimeoutMs: 10_000,
    role: 'writer',
    observer: silentObserver,
  });
  try {
    return await work(session);
  } catch (error) {
    const state = sqlState(error);
    if (state === undefined || !(error instanceof Error)) throw error;
    throw new StartupError(`the replica can't follow (SQLSTATE ${state}): ${error.message}`);
  } finally {
    await session.close();
  }
}

/**
 * PostgreSQL itself connects with this URL, from another environment, so the TLS settings of this process are written
 * into it.
 */
function libpqUrl(url: string): string {
  const { PGSSLMODE: mode = '' } = environment;
  const named = url.replace(/^postgres:/, 'postgresql:');
  if (mode === '' || /[?&]sslmode=/.test(url)) return named;
  return `${named}${named.includes('?') ? '&' : '?'}sslmode=${encodeURIComponent(mode)}`;
}

function ask(session: Session, sql: string): ReturnType<Session['execute']> {
  return session.execute('replica', sql, timeoutMs);
}
