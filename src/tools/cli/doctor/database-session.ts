import { silentObserver } from '../../../storage/postgres/postgres-storage-options.js';
import { Session } from '../../../storage/postgres/session.js';
import type { DatabaseNeeds } from './database-needs.js';
import { error, type Finding, ok, warning } from './finding.js';

const limitMs = 10_000;
/** Reads of long lists take up to half a minute. */
const leastStatementMs = 30_000;
/** Connections that nobody uses for this long must stay open: the one that listens does nothing else. */
const leastIdleMs = 60_000;

type Values = readonly (string | null)[];

async function valuesOf(session: Session, sql: string): Promise<Values> {
  const [row = []] = await session.execute('doctor', sql, limitMs);
  return row;
}

/**
 * Checks the settings that the role and the database make for every session: some of them prevent the server from
 * working.
 */
export async function sessionFindings(session: Session): Promise<Finding[]> {
  const [readOnly, isolation, statementMs, lockMs, idleMs, user, database] = await valuesOf(
    session,
    `select current_setting('default_transaction_read_only'), current_setting('default_transaction_isolation'),
       (select setting from pg_settings where name = 'statement_timeout'),
       (select setting from pg_settings where name = 'lock_timeout'),
       (select setting from pg_settings where name = 'idle_session_timeout'), current_user, current_database()`,
  );
  const findings: Finding[] = [];
  const reset = (name: string) => `alter role ${user} reset ${name}, alter database ${database} reset ${name}`;
  if (readOnly === 'on') {
    findings.push(error('session settings', 'transactions are read-only', reset('default_transaction_read_only')));
  }
  if (isolation !== 'read committed') {
    const text = `the isolation of transactions is ${isolation}; the server needs read committed`;
    findings.push(error('session settings', text, reset('default_transaction_isolation')));
  }
  const tooShort = (name: string, value: string | null | undefined, least: number, harm: string) => {
    if (Number(value) === 0 || Number(value) >= least) return;
    findings.push(warning('session settings', `${name} is ${value} ms: ${harm}`, reset(name)));
  };
  tooShort('statement_timeout', statementMs, leastStatementMs, 'long lists and upkeep are cut off');
  tooShort('lock_timeout', lockMs, leastStatementMs, 'upkeep gives up behind writes');
  tooShort('idle_session_timeout', idleMs, leastIdleMs, 'the connection for notifications ends again and again');
  return findings.length > 0 ? findings : [ok('session settings', 'no setting prevents the server from working')];
}

/** Checks the limits of the role and of the database, which count less than all connections of the server. */
export async function limitFindings(session: Session, connections: number): Promise<Finding[]> {
  const [ofRole, ofDatabase, user, database] = await valuesOf(
    session,
    `select (select rolconnlimit from pg_roles where rolname = current_user and not rolsuper),
       (select datconnlimit from pg_database, pg_roles
         where datname = current_database() and rolname = current_user and not rolsuper),
       current_user, current_database()`,
  );
  const findings: Finding[] = [];
  const check = (what: string, limit: string | null | undefined) => {
    if (limit === null || limit === undefined || Number(limit) < 0 || Number(limit) >= 2 * connections) return;
    const text = `${what} may have ${limit} connections; one process of the server takes up to ${connections}`;
    findings.push(
      (Number(limit) < connections ? error : warning)('connection limit', text, `alter ${what} connection limit -1`),
    );
  };
  check(`role ${user}`, ofRole);
  check(`database ${database}`, ofDatabase);
  return findings;
}

/** A pooler in statement mode refuses transactions of several statements, which migrations and upkeep need. */
export async function poolModeFindings(first: Session, { databaseUrl }: DatabaseNeeds): Promise<Finding[]> {
  if (!first.pooled) return [];
  // The pooler ends the connection of a transaction that it refuses.
  const session = await Session.open({
    url: databaseUrl,
    applicationName: 'plinth doctor',
    connectTimeoutMs: limitMs,
    role: 'reader',
    observer: silentObserver,
  });
  try {
    await session.execute('doctor', 'begin', limitMs);
    await session.execute('doctor', 'rollback', limitMs);
    return [];
  } catch (fault) {
    const text = `the pooler lets no transaction through: ${(fault as Error).message}`;
    return [error('pooler', text, 'pool_mode = transaction (or session) in its settings')];
  } finally {
    await session.close();
  }
}

/** Checks whether the database was restored, copied or promoted since a server last worked in it. */
export async function historyFindings(session: Session): Promise<Finding[]> {
  const [isReplica, isInPlace, timeline] = await valuesOf(
    session,
    `select e.replica,
       e.relation is null or (e.relation = e.tableoid and e.database =
         (select d.oid from pg_database d where d.datname = current_database())),
       e.timeline is null or plinth.current_timeline() is null or e.timeline = plinth.current_timeline()
     from plinth.epoch e where e.singleton`,
  );
  const check = 'history';
  if (isReplica === 't') {
    const text = 'it is kept by plinth replica, and takes no writes';
    return [error(check, text, 'name the database that it is a replica of in --database-url')];
  }
  if (isInPlace === 'f') {
    const text = 'it was restored or copied since a server last worked in it';
    return [warning(check, text, 'run plinth fence before the servers start, so that clients list again')];
  }
  if (timeline === 'f') {
    const text = 'its server was promoted or restored since a server of Plinth last worked in it';
    return [warning(check, text, 'after a restore run plinth fence; after a fail-over there is nothing to do')];
  }
  return [ok(check, 'it is the one that servers last worked in')];
}
