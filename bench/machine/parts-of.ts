import type pg from 'pg';
import {
  childrenOf,
  parentOf,
  processorMicroseconds,
  servingThreadMicroseconds,
} from '../../test/e2e/support/processes.js';
import type { Part } from './part.js';

/** Processes of a database, which keep their names from one reading to the next. */
interface Backend {
  readonly pid: number;
  readonly type: string;
}

/**
 * What the parts of a server with workers and of its PostgreSQL have used so far. `parent` is the first process of the
 * server, `admin` a connection to the database, which does not count.
 */
export async function partsOf(parent: number, admin: pg.Client): Promise<Part[]> {
  const workers = childrenOf(parent);
  const sum = (pids: readonly number[], of: (pid: number) => number) => pids.reduce((all, pid) => all + of(pid), 0);
  const helpers = (pid: number) => processorMicroseconds(pid) - servingThreadMicroseconds(pid);
  const serving: Part[] =
    workers.length === 0
      ? [{ name: 'server, its thread', isAlone: true, microseconds: servingThreadMicroseconds(parent) }]
      : [
          { name: 'parent, its thread', isAlone: true, microseconds: servingThreadMicroseconds(parent) },
          { name: 'workers, their threads', isAlone: false, microseconds: sum(workers, servingThreadMicroseconds) },
        ];
  return [
    ...serving,
    { name: 'other threads of the server', isAlone: false, microseconds: sum([parent, ...workers], helpers) },
    ...(await databaseParts(admin)),
  ];
}

async function databaseParts(admin: pg.Client): Promise<Part[]> {
  const { rows } = await admin.query<Backend & { own: number }>(
    `select pid, pg_backend_pid() as own,
       case when backend_type = 'client backend' then 'session ' || pid else backend_type end as type
     from pg_stat_activity where backend_type <> 'parallel worker'`,
  );
  const own = rows[0]?.own as number;
  const known = new Map(rows.map(({ pid, type }) => [pid, type]));
  const parts = new Map<string, Part>();
  for (const pid of childrenOf(parentOf(own))) {
    if (pid === own) continue;
    const type = known.get(pid) ?? 'others';
    const before = parts.get(type)?.microseconds ?? 0;
    parts.set(type, {
      name: `PostgreSQL, ${type}`,
      isAlone: type !== 'others',
      microseconds: before + processorMicroseconds(pid),
    });
  }
  return [...parts.values()];
}
