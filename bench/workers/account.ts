import type pg from 'pg';
import {
  childrenOf,
  parentOf,
  processorMicroseconds,
  servingThreadMicroseconds,
} from '../../test/e2e/support/processes.js';
import type { TestServer } from '../../test/e2e/support/test-cluster.js';

/** Microseconds of processor time, and a count of statements. */
export interface Account {
  /** Serving threads: those in which requests are handled. */
  readonly parent: number;
  readonly workers: number;
  /** All other threads of the server. */
  readonly helpers: number;
  readonly database: number;
  /** This process, which sends the requests. */
  readonly client: number;
  /** Statements of the server. */
  readonly statements: number;
}

export const parts = ['parent', 'workers', 'helpers', 'database', 'client', 'statements'] as const;

/** What a server and its PostgreSQL have used so far; `admin` is a connection to the latter. */
export async function accountOf({ process: parent, client }: TestServer, admin: pg.Client): Promise<Account> {
  const pid = parent.pid as number;
  const { rows } = await admin.query<{ pid: number }>('select pg_backend_pid() as pid');
  const postmaster = parentOf(rows[0]?.pid as number);
  const sum = (pids: readonly number[], of = processorMicroseconds) => pids.reduce((all, one) => all + of(one), 0);
  const workers = childrenOf(pid);
  const serving = { parent: servingThreadMicroseconds(pid), workers: sum(workers, servingThreadMicroseconds) };
  const { text } = await client.get('/metrics');
  const called = /^storage_request_duration_seconds_count\{.*\} (\d+)$/gm;
  return {
    statements: [...text.matchAll(called)].reduce((total, [, count]) => total + Number(count), 0),
    ...serving,
    helpers: sum([pid, ...workers]) - serving.parent - serving.workers,
    client: processorMicroseconds(process.pid),
    database: sum([postmaster, ...childrenOf(postmaster)]),
  };
}

/** The usage of several servers together; their common client counts once. */
export function sumOf(accounts: readonly Account[]): Account {
  const [first] = accounts as readonly [Account];
  const sums = parts.map((part) => [part, accounts.reduce((total, account) => total + account[part], 0)]);
  return { ...Object.fromEntries(sums), client: first.client };
}

/** What each of the requests between two accounts took. */
export function perRequest(before: Account, after: Account, requests: number): Account {
  return Object.fromEntries(parts.map((part) => [part, (after[part] - before[part]) / requests])) as unknown as Account;
}
