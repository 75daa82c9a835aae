import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import type { Queries } from './database.js';
import { REPLICA_HISTORY, text } from './statements.js';

const statementMs = 5_000;
/** A standby can show a commit a moment before the primary does, which still waits for a standby to confirm it. */
const aheadMs = 1_000;
const pauseMs = 20;

/** Why a replica must not be read for a primary. */
export const replicaProblems = {
  ofAnother: 'the read replica is of another database',
  apart: 'the read replica is not in the history of the database, or lags far behind it',
  ahead:
    'the read replica has versions that the database lacks: the database was restored to an earlier state, or the ' +
    'replica follows another server',
} as const;
export type ReplicaProblem = keyof typeof replicaProblems;

/**
 * Why the replica must not be read for this primary; undefined if there is no reason. A replica that lags may be in an older
 * history; one of a copy of the database that was promoted is in another one. If the database was restored to an earlier
 * state, both may even be on one timeline: then the same version is another change there, which the random number of its
 * batch shows, or the primary lacks it.
 */
export async function replicaProblem(replica: Queries, primary: Queries): Promise<ReplicaProblem | undefined> {
  const there = await historyOf(replica, null);
  const deadline = performance.now() + aheadMs;
  for (;;) {
    const here = await historyOf(primary, there.head.toString());
    if (there.database !== here.database) return 'ofAnother';
    if (there.history !== here.history) return 'apart';
    if (there.head <= here.head) {
      if (there.batch === null || there.batch === here.batch) return undefined;
      return there.head < here.oldest ? 'apart' : 'ahead';
    }
    if (performance.now() >= deadline) return 'ahead';
    await setTimeout(pauseMs);
  }
}

/** @param version whose batch is asked for; null: the newest one */
async function historyOf(queries: Queries, version: string | null) {
  const [row = []] = await queries.run(REPLICA_HISTORY, [version], statementMs);
  return {
    database: row[0],
    history: row.slice(0, 6).join(),
    oldest: BigInt(text(row, 6)),
    head: BigInt(text(row, 7)),
    batch: row[8] ?? null,
  };
}
