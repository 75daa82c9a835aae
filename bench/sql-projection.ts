import { parseArgs } from 'node:util';
import pg from 'pg';
import { pod } from '../src/apis/core/v1/pod.types.js';
import { sqlProjectionMode } from '../src/config/sql-projection.js';
import { SqlProjectionController } from '../src/controllers/sql-projection/sql-projection.controller.js';
import { syncViews } from '../src/controllers/sql-views/sync-views.js';
import { systemTimers } from '../src/controllers/timers.js';
import type { KindType } from '../src/machinery/schema/index.js';
import { Logger } from '../src/observability/logger.js';
import { defineResource } from '../src/registry/resource-definition.js';
import type { ResourceRegistry } from '../src/registry/resource-registry.js';
import { migrate } from '../src/storage/postgres/migrate.js';
import { createPostgresStorage, type PostgresStorage } from '../src/storage/postgres/postgres-storage.js';
import { startTestPostgres } from '../test/support/test-postgres.js';
import { podJson } from './pod-json.js';

/*
 * SQL over many pods: queries by views over the stored objects and by rows (--sql-projection=tables), the time to fill the
 * rows, how far they lag behind steady writes, and what writers pay for them. With --database-url it measures that
 * (empty) database, otherwise a fresh Postgres.
 */

const { values: flags } = parseArgs({
  options: {
    pods: { type: 'string', default: '100000' },
    'writes-per-second': { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '10' },
    'database-url': { type: 'string' },
  },
});
const count = Number(flags.pods);
const rate = Number(flags['writes-per-second']);
const durationMs = Number(flags.seconds) * 1000;

const queries: Readonly<Record<string, string>> = {
  'not running, oldest first': `select namespace, name, phase from cluster.pods where phase <> 'Running' order by created_at`,
  'of one node': `select name from cluster.pods where node = 'node-7'`,
  'of one owner': `select name from cluster.pods where owner = 'ReplicaSet/set-9'`,
  'by label': `select name from cluster.pods where labels @> '{"revision": "17"}'`,
  'by a field of the object': `select name from cluster.pods where object @> '{"spec": {"nodeName": "node-3"}}' limit 10`,
  'images in use': 'select image, count(*) from cluster.pods, unnest(images) image group by 1 order by 2 desc limit 20',
  'number by phase': 'select phase, count(*) from cluster.pods group by 1',
};

const pods = defineResource({
  group: '',
  resource: 'pods',
  singular: 'pod',
  kind: 'Pod',
  namespaced: true,
  versions: [{ version: 'v1', type: pod as KindType }],
  strategy: {},
});

/** Pods of 2 KB with owners; one of a hundred is pending. */
function text(i: number): string {
  const object = JSON.parse(podJson(`pod-${i}`, i % 500));
  object.metadata.creationTimestamp = new Date(1_700_000_000_000 + i * 1000).toISOString().replace('.000', '');
  object.metadata.ownerReferences = [{ kind: 'ReplicaSet', name: `set-${i % 2000}`, controller: true }];
  if (i % 100 === 0) object.status.phase = 'Pending';
  return JSON.stringify(object);
}

const key = (i: number) => ({ resource: 'pods', namespace: 'default', name: `pod-${i}` });

async function fill(storage: PostgresStorage): Promise<void> {
  for (let at = 0; at < count; at += 500) {
    const some = Array.from({ length: Math.min(500, count - at) }, (_, i) => at + i);
    await Promise.all(some.map((i) => storage.create(key(i), `uid-${i}`, text(i))));
  }
}

async function ask(client: pg.Client, how: string): Promise<void> {
  for (const [what, sql] of Object.entries(queries)) {
    const times: number[] = [];
    for (let i = 0; i < 3; i++) {
      const began = performance.now();
      await client.query(sql);
      times.push(performance.now() - began);
    }
    console.log(JSON.stringify({ how, what, ms: Number(Math.min(...times).toFixed(1)) }));
  }
}

/** Writes at a steady rate; tells how long single writes took. */
async function write(storage: PostgresStorage, how: string, client: pg.Client): Promise<void> {
  const times: number[] = [];
  const lags: number[] = [];
  const pending: Promise<unknown>[] = [];
  const began = performance.now();
  const cpu = await databaseCpu(client);
  for (let done = 0; performance.now() - began < durationMs; ) {
    const due = Math.floor(((performance.now() - began) / 1000) * rate);
    for (; done < due; done++) {
      const i = Math.floor(Math.random() * count);
      const start = performance.now();
      const update = storage.guaranteedUpdate(key(i), {}, () => ({ kind: 'write', json: text(i), uid: `uid-${i}` }));
      pending.push(update.then(() => times.push(performance.now() - start)));
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
    if (done % 10 === 0) {
      const { rows } = await client.query('select extract(epoch from behind) * 1000 as ms from cluster.lag()');
      if (rows.length > 0) lags.push(Number(rows[0].ms));
    }
  }
  await Promise.all(pending);
  const seconds = (performance.now() - began) / 1000;
  const at = (list: number[], share: number) =>
    Math.round(list.toSorted((a, b) => a - b)[Math.floor((list.length - 1) * share)] ?? 0);
  console.log(
    JSON.stringify({
      how,
      writesPerSecond: Math.round(times.length / seconds),
      p50Ms: at(times, 0.5),
      p99Ms: at(times, 0.99),
      lagP50Ms: at(lags, 0.5),
      lagMostMs: at(lags, 1),
      databaseCpuPerWriteUs: Math.round((((await databaseCpu(client)) - cpu) * 1e6) / times.length),
    }),
  );
}

/** Processor time of all server processes in seconds, where the server is on this machine (Linux). */
async function databaseCpu(client: pg.Client): Promise<number> {
  const { readFileSync } = await import('node:fs');
  const { rows } = await client.query<{ pid: number }>('select pid from pg_stat_activity');
  let ticks = 0;
  for (const { pid } of rows) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
      ticks += Number(stat[11]) + Number(stat[12]);
    } catch {
      // Another machine, or the process has just ended.
    }
  }
  return ticks / 100;
}

const postgres = flags['database-url'] === undefined ? await startTestPostgres({ fsync: true }) : undefined;
const url = flags['database-url'] ?? (await postgres?.createTestDatabase()) ?? '';
await migrate(url);
const storage = await createPostgresStorage({ databaseUrl: url });
const client = new pg.Client({ connectionString: url });
await client.connect();
const quiet = new Logger('error', 'text', () => {});
await fill(storage);
await client.query('vacuum analyze plinth.objects');
await syncViews(url, [pods], 'k8s.io', sqlProjectionMode('views', []), quiet);
await ask(client, 'views');
await write(storage, 'views', client);

const registry = { definitions: () => [pods], onChange: () => () => undefined } as unknown as ResourceRegistry;
const mode = sqlProjectionMode('tables', []);
const stopping = new AbortController();
const timers = systemTimers;
const began = performance.now();
const loop = new SqlProjectionController({ databaseUrl: url, registry, suffix: 'k8s.io', mode, timers, logger: quiet });
const ended = loop.run(stopping.signal);
for (;;) {
  const { rows } = await client.query(`select pg_get_viewdef('cluster.pods'::regclass) like '%rows_%' as yes`);
  if (rows[0].yes === true) break;
  await new Promise((resolve) => setTimeout(resolve, 100));
}
console.log(JSON.stringify({ how: 'tables', fillSeconds: Number(((performance.now() - began) / 1000).toFixed(1)) }));
await ask(client, 'tables');
await write(storage, 'tables', client);
stopping.abort();
await ended.catch(() => undefined);
await client.end();
await storage.stop();
await postgres?.stop();
