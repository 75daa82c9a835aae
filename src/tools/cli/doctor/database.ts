import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { connectionRemedy } from '../../../base/database/connection-remedy.js';
import { protectionProblem } from '../../../base/database/protection.js';
import { errorText } from '../../../base/machinery/startup-error.js';
import { schemaProblem } from '../../../storage/postgres/migrate.js';
import { silentObserver } from '../../../storage/postgres/postgres-storage-options.js';
import { Session } from '../../../storage/postgres/session.js';
import type { DatabaseNeeds } from './database-needs.js';
import { tlsRemedy } from './database-remedies.js';
import { historyFindings, limitFindings, poolModeFindings, sessionFindings } from './database-session.js';
import { bytesText, error, type Finding, ok, skipped, warning } from './finding.js';
import { replicaFindings } from './read-replica.js';

const limitMs = 10_000;
const oldestVersion = 140_000;
const newestTested = 190_000;
const mostSkewMs = 2_000;
const hugeSkewMs = 60_000;
const notificationMs = 5_000;
/** The transaction age from which a warning is given; at two billion the database stops. */
const oldTransactions = 1_000_000_000;
const usualLongTransaction = 600;
const mostDeadShare = 0.5;
const leastDeadRows = 100_000;
const staleLagSeconds = 60;
const standbyCheck = 'database role';

/** Checks connection, server, settings, rights, schema, readers and upkeep. */
export async function databaseFindings(needs: DatabaseNeeds, now: () => number): Promise<Finding[]> {
  let session: Session;
  try {
    session = await connect(needs.databaseUrl);
  } catch (fault) {
    return [error('database', `it can't be used: ${errorText(fault)}`, connectionRemedy(fault))];
  }
  const findings: Finding[] = [ok('database', 'it answers'), protectionFinding(session)];
  try {
    for (const look of [
      versionFindings,
      clockFinding,
      settingFindings,
      sessionFindings,
      connectionFindings,
      poolerFinding,
      poolModeFindings,
      schemaFindings,
      replicaFindings,
      vacuumFindings,
    ]) {
      findings.push(...[await look(session, needs, now)].flat());
      // Most other checks need a server that takes writes.
      if (findings.some(({ check }) => check === standbyCheck)) break;
    }
    return findings;
  } catch (fault) {
    const text = `a check failed: ${errorText(fault)}`;
    return [...findings, error('database', text, 'look at the log of the database')];
  } finally {
    await session.close();
  }
}

function connect(url: string): Promise<Session> {
  return Session.open({
    url,
    applicationName: 'plinth doctor',
    connectTimeoutMs: limitMs,
    role: 'reader',
    observer: silentObserver,
  });
}

function protectionFinding({ protection }: Session): Finding {
  const check = 'database encryption';
  const problem = protectionProblem(protection);
  if (problem !== undefined) return warning(check, problem, tlsRemedy('--database-url'));
  const { isLocal, protocol, verified } = protection;
  if (protocol === undefined) return ok(check, 'none, and none needed: the connection stays on this machine');
  const checked = { nothing: 'is not checked', chain: 'comes from a trusted authority', name: 'names the host' }[
    verified
  ];
  return ok(check, `${protocol}; the certificate ${checked}${isLocal ? '; the connection stays on this machine' : ''}`);
}

async function rowOf(session: Session, sql: string): Promise<readonly (string | null)[]> {
  const [row = []] = await session.execute('doctor', sql, limitMs);
  return row;
}

async function versionFindings(session: Session): Promise<Finding[]> {
  const [version, number, standby, encoding] = await rowOf(
    session,
    `select current_setting('server_version'), current_setting('server_version_num'), pg_is_in_recovery(),
       current_setting('server_encoding')`,
  );
  const findings: Finding[] = [];
  if (Number(number) < oldestVersion) {
    findings.push(error('database version', `PostgreSQL ${version} is too old`, 'use version 14 or newer'));
  } else if (Number(number) >= newestTested) {
    findings.push(
      warning('database version', `PostgreSQL ${version} is newer than what is tested`, 'use version 14 to 18'),
    );
  } else findings.push(ok('database version', `PostgreSQL ${version}`));
  if (standby === 't') {
    findings.push(
      error(standbyCheck, 'it is a standby and takes no writes', 'name the primary, or all hosts, in --database-url'),
    );
  }
  if (encoding !== 'UTF8') {
    findings.push(error('database encoding', `it is ${encoding}`, 'create the database with encoding UTF8'));
  }
  return findings;
}

async function clockFinding(session: Session, _needs: DatabaseNeeds, now: () => number): Promise<Finding> {
  const before = now();
  const [there] = await rowOf(session, 'select extract(epoch from clock_timestamp()) * 1000');
  // The database read its clock at some time in between.
  const skew = Math.max(0, before - Number(there), Number(there) - now());
  const text = `the clocks of this machine and of the database differ by ${(skew / 1000).toFixed(1)} s`;
  const remedy = 'run chrony or systemd-timesyncd on both machines';
  if (skew > hugeSkewMs) return error('clock', `${text}: certificates and tokens look invalid`, remedy);
  return skew > mostSkewMs ? warning('clock', text, remedy) : ok('clock', text);
}

async function settingFindings(session: Session): Promise<Finding[]> {
  const [commit, fsync, pages, level, vacuum, slots, names] = await rowOf(
    session,
    `select current_setting('synchronous_commit'), current_setting('fsync'), current_setting('full_page_writes'),
       current_setting('wal_level'), current_setting('autovacuum'), current_setting('max_wal_senders'),
       current_setting('synchronous_standby_names')`,
  );
  const findings: Finding[] = [];
  const say = (check: string, isWrong: boolean, text: string, remedy: string) =>
    isWrong ? findings.push(warning(check, text, remedy)) : undefined;
  say(
    'synchronous_commit',
    commit === 'off',
    'off: a crash of the database loses writes whose clients got an answer',
    'alter system set synchronous_commit = on',
  );
  say('fsync', fsync === 'off', 'off: a crash of the machine can destroy the database', 'alter system set fsync = on');
  say(
    'full_page_writes',
    pages === 'off',
    'off: a crash can leave half-written pages',
    'alter system set full_page_writes = on',
  );
  say('autovacuum', vacuum === 'off', 'off: tables grow without end', 'alter system set autovacuum = on');
  say(
    'wal_level',
    level === 'minimal',
    'minimal: no standby, no base backup and no restore to a moment is possible',
    'alter system set wal_level = replica, and restart',
  );
  if (findings.length === 0) {
    const waits = names === '' ? 'no standby has to confirm writes' : `standbys confirm writes: ${names}`;
    findings.push(
      ok('database settings', `synchronous_commit ${commit}, wal_level ${level}, ${slots} senders; ${waits}`),
    );
  }
  return findings;
}

async function connectionFindings(session: Session, { connections }: DatabaseNeeds): Promise<Finding[]> {
  return [await freeFinding(session, connections), ...(await limitFindings(session, connections))];
}

async function freeFinding(session: Session, connections: number): Promise<Finding> {
  const [most, reserved, used] = await rowOf(
    session,
    `select current_setting('max_connections')::int, current_setting('superuser_reserved_connections')::int,
       (select count(*) from pg_stat_activity where backend_type = 'client backend')`,
  );
  const free = Number(most) - Number(reserved) - Number(used);
  const text = `${free} of ${most} connections are free; one process of the server takes up to ${connections}`;
  if (free >= 2 * connections) return ok('database connections', text);
  const remedy = 'raise max_connections, lower --database-pool-size, or put a pooler between';
  return free < connections
    ? error('database connections', text, remedy)
    : warning('database connections', text, remedy);
}

/** Behind a pooler in transaction mode notifications are accepted and never arrive. */
async function poolerFinding(session: Session, { listenDatabaseUrl, databaseUrl }: DatabaseNeeds): Promise<Finding> {
  const listener = await connect(listenDatabaseUrl ?? databaseUrl).catch((fault: unknown) => fault);
  if (!(listener instanceof Session)) {
    return error(
      'notifications',
      `--listen-database-url can't be used: ${errorText(listener)}`,
      connectionRemedy(listener),
    );
  }
  try {
    const unprotected = protectionProblem(listener.protection);
    if (listenDatabaseUrl !== undefined && unprotected !== undefined) {
      return warning('notifications', unprotected, tlsRemedy('--listen-database-url'));
    }
    const channel = `plinth_doctor_${randomBytes(6).toString('hex')}`;
    const heard = new Promise<boolean>((done) => listener.onNotification(() => done(true)));
    await listener.execute('doctor', `listen ${channel}`, limitMs);
    await session.execute('doctor', `notify ${channel}`, limitMs);
    const late = new AbortController();
    const arrived = await Promise.race([heard, delay(notificationMs, false, { signal: late.signal })]);
    late.abort();
    await listener.execute('doctor', 'unlisten *', limitMs);
    const way = session.pooled ? 'through a pooler' : 'on a direct connection';
    if (arrived) return ok('notifications', `they arrive; statements go ${way}`);
    return warning(
      'notifications',
      'they do not arrive, as behind a pooler in transaction mode: changes of other processes are found by polling',
      'name the database itself by --listen-database-url',
    );
  } finally {
    await listener.close();
  }
}

async function schemaFindings(session: Session): Promise<Finding[]> {
  const [exists, create, mayUse, owner, user] = await rowOf(
    session,
    `select n.oid is not null, has_database_privilege(current_database(), 'CREATE'),
       coalesce(has_schema_privilege(n.oid, 'USAGE'), false), coalesce(pg_has_role(n.nspowner, 'USAGE'), false), current_user
     from (select 1) one left join pg_namespace n on n.nspname = 'plinth'`,
  );
  if (exists === 'f') {
    if (create === 't') return [warning('schema', 'it is not there yet', 'run plinth migrate')];
    return [
      error(
        'rights',
        `role ${user} may not create schemas`,
        `grant create on database … to ${user}, then plinth migrate`,
      ),
    ];
  }
  if (mayUse === 'f' || owner === 'f') {
    return [
      error(
        'rights',
        `role ${user} does not own the schema plinth`,
        `connect as its owner, or grant that role to ${user}`,
      ),
    ];
  }
  const problem = await schemaProblem(session);
  if (problem === undefined)
    return [
      ok('rights', `role ${user} owns the schema`),
      ok('schema', 'it matches this program'),
      ...(await historyFindings(session)),
      ...(await lagFindings(session)),
    ];
  return [error('schema', problem.message, schemaRemedy(problem.message))];
}

function schemaRemedy(problem: string): string {
  if (/newer program/.test(problem)) return 'install the newer release here too';
  if (/empty database/.test(problem)) return 'name an empty database in --database-url: this one stays as it is';
  return 'run plinth migrate with this program';
}

/** Checks how far the readers of the log lag behind: the rows of the SQL projection, and the copy for the history. */
async function lagFindings(session: Session): Promise<Finding[]> {
  const [behind] = await rowOf(session, 'select extract(epoch from behind) from cluster.lag()');
  const [pending, silent] = await rowOf(
    session,
    `select cardinality(pending), extract(epoch from clock_timestamp() - confirmed_at) from plinth.history_state`,
  );
  const findings: Finding[] = [];
  if (behind !== undefined && Number(behind) > staleLagSeconds) {
    findings.push(
      warning(
        'readers of the log',
        `the rows for SQL are ${Math.round(Number(behind))} s behind`,
        'run plinth controllers with the loop sql-projection, and look at its log',
      ),
    );
  }
  if (silent !== undefined && Number(silent) > 24 * 3600) {
    findings.push(
      warning(
        'readers of the log',
        `no process has kept the history for ${Math.round(Number(silent) / 3600)} hours`,
        'give --history-retention to every process',
      ),
    );
  }
  if (findings.length > 0) return findings;
  const parts = [
    behind === undefined
      ? 'SQL reads the objects themselves'
      : `rows for SQL are ${Number(behind).toFixed(1)} s behind`,
    pending === undefined ? 'no history is kept' : `${pending} parts of the history are to be copied`,
  ];
  return [ok('readers of the log', parts.join('; '))];
}

async function vacuumFindings(
  session: Session,
  { longTransactionSeconds = usualLongTransaction }: DatabaseNeeds,
): Promise<Finding[]> {
  const [age, transaction, pid, prepared, slotAge, slot, dead, live, size] = await rowOf(
    session,
    `select (select age(datfrozenxid) from pg_database where datname = current_database()),
       (select floor(max(extract(epoch from clock_timestamp() - xact_start))) from pg_stat_activity
         where backend_xmin is not null and pid <> pg_backend_pid() and backend_type = 'client backend'),
       (select pid from pg_stat_activity where backend_xmin is not null and pid <> pg_backend_pid()
         and backend_type = 'client backend' order by xact_start limit 1),
       (select count(*) from pg_prepared_xacts where prepared < clock_timestamp() - interval '10 minutes'),
       (select max(greatest(age(xmin), age(catalog_xmin))) from pg_replication_slots where not active),
       (select slot_name from pg_replication_slots where not active order by restart_lsn limit 1),
       (select sum(n_dead_tup) from pg_stat_user_tables where schemaname = 'plinth'),
       (select sum(n_live_tup) from pg_stat_user_tables where schemaname = 'plinth'),
       pg_database_size(current_database())`,
  );
  const findings: Finding[] = [];
  if (Number(age) > oldTransactions) {
    findings.push(
      error(
        'vacuum',
        `the oldest row is ${age} transactions old; the database stops at two thousand million`,
        'run vacuum (freeze) as a superuser, and find what holds it back',
      ),
    );
  }
  if (transaction !== null && Number(transaction) >= longTransactionSeconds) {
    findings.push(
      warning(
        'vacuum',
        `process ${pid} has a transaction open for ${transaction} s, which keeps old rows`,
        `end it: select pg_terminate_backend(${pid})`,
      ),
    );
  }
  if (Number(prepared) > 0) {
    findings.push(
      warning(
        'vacuum',
        `${prepared} prepared transactions keep old rows`,
        'commit or roll them back: select * from pg_prepared_xacts',
      ),
    );
  }
  if (slot !== null && slot !== undefined) {
    const text = `nobody reads the replication slot ${slot}: it keeps the log of the database${slotAge === null ? '' : ' and old rows'}, until the disk is full`;
    findings.push(
      warning('disk of the database', text, `start its reader, or select pg_drop_replication_slot('${slot}')`),
    );
  }
  if (Number(dead) > leastDeadRows && Number(dead) > mostDeadShare * Number(live)) {
    findings.push(
      warning(
        'vacuum',
        `${dead} dead rows beside ${live} live ones`,
        'look why autovacuum does not come: select * from pg_stat_progress_vacuum',
      ),
    );
  }
  if (findings.length === 0) findings.push(ok('vacuum', `nothing is held back; oldest row ${age} transactions old`));
  findings.push(skippedDisk(Number(size)));
  return findings;
}

function skippedDisk(size: number): Finding {
  return skipped('disk of the database', `it takes ${bytesText(size)}; a database does not report how much is free`);
}
