import { connectionRemedy } from '../../../base/database/connection-remedy.js';
import { protectionProblem } from '../../../base/database/protection.js';
import { errorText } from '../../../base/machinery/startup-error.js';
import { silentObserver } from '../../../storage/postgres/postgres-storage-options.js';
import { type ReplicaProblem, replicaProblem, replicaProblems } from '../../../storage/postgres/replica-history.js';
import { Session } from '../../../storage/postgres/session.js';
import type { DatabaseNeeds } from './database-needs.js';
import { tlsRemedy } from './database-remedies.js';
import { error, type Finding, ok, warning } from './finding.js';

const check = 'read replica';
const limitMs = 10_000;
/** Servers read the primary instead of a replica that lags by more. */
const mostLagMs = 1_000;
const remedies: Readonly<Record<ReplicaProblem, string>> = {
  ofAnother: 'name a standby of the server of --database-url, and the same database',
  apart: 'look at its log: it has to follow the server of --database-url (primary_conninfo)',
  ahead: 'run plinth fence if the database was restored, and make the replica anew from it',
};

/** Checks the replica of `--read-database-url`: that it is one, of this database, and how far it is behind. */
export async function replicaFindings(primary: Session, { readDatabaseUrl }: DatabaseNeeds): Promise<Finding[]> {
  if (readDatabaseUrl === undefined) return [];
  let replica: Session;
  try {
    replica = await Session.open({
      url: readDatabaseUrl,
      applicationName: 'plinth doctor',
      connectTimeoutMs: limitMs,
      role: 'replica',
      observer: silentObserver,
    });
  } catch (fault) {
    return [error(check, errorText(fault), remedyFor(fault))];
  }
  try {
    const problem = protectionProblem(replica.protection);
    const findings = problem === undefined ? [] : [warning(check, problem, tlsRemedy('--read-database-url'))];
    const apart = await replicaProblem(replica, primary);
    if (apart !== undefined) return [...findings, error(check, replicaProblems[apart], remedies[apart])];
    return [...findings, await lagFinding(primary, replica)];
  } finally {
    await replica.close();
  }
}

async function lagFinding(primary: Session, replica: Session): Promise<Finding> {
  const [written] = await primary.execute('doctor', 'select pg_current_wal_lsn()', limitMs);
  const began = performance.now();
  for (;;) {
    const [replayed] = await replica.execute(
      'doctor',
      `select pg_last_wal_replay_lsn() >= '${written?.[0]}', '${written?.[0]}'::pg_lsn - pg_last_wal_replay_lsn()`,
      limitMs,
    );
    const waitedMs = performance.now() - began;
    if (replayed?.[0] === 't') return ok(check, `it had what the primary wrote after ${Math.ceil(waitedMs)} ms`);
    if (waitedMs > mostLagMs) {
      return warning(
        check,
        `it is ${replayed?.[1]} bytes of the log behind, so servers read the primary`,
        'look whether it receives and replays the log: select * from pg_stat_wal_receiver; and for long queries there',
      );
    }
  }
}

function remedyFor(fault: unknown): string {
  const text = errorText(fault);
  if (/not a standby/.test(text)) return 'name a standby in --read-database-url, or leave the flag out';
  if (/pooler/.test(text)) return 'name the replica itself in --read-database-url, without a pooler between';
  return connectionRemedy(fault, '--read-database-url');
}
