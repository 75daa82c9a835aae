import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { ClusterOptions } from '../src/base/config/cluster.options.js';
import { parseOptions } from '../src/base/config/parse-options.js';
import { sqlProjectionMode } from '../src/base/config/sql-projection.js';
import { StorageOptions } from '../src/base/config/storage.options.js';
import { systemTimers } from '../src/base/machinery/timers.js';
import { Logger } from '../src/base/observability/logger.js';
import { openApplicationContext } from '../src/base/process/application-context.js';
import { SqlProjectionController } from '../src/loops/controllers/sql-projection/sql-projection.controller.js';
import { syncViews } from '../src/loops/controllers/sql-views/sync-views.js';
import { ResourceRegistry } from '../src/objects/registry/resource-registry.js';
import { ResourcesAppModule } from '../src/resources-app.module.js';
import { migrate } from '../src/storage/postgres/migrate.js';
import { createPostgresStorage, type PostgresStorage } from '../src/storage/postgres/postgres-storage.js';
import { startTestPostgres } from '../test/support/test-postgres.js';
import { ExampleCluster, type ExampleObject } from './sql/example-objects.js';
import { loadExample } from './sql/load.js';
import { type Question, questionsOf } from './sql/questions.js';

/*
 * SQL over many objects: loads the example cluster and its past, asks every question of docs/sql.md and docs/history.md (as
 * they stand there) and prints the tables of these pages; then what the rows of --sql-projection=tables cost writers (runs
 * with and without, in turns) and how far they lag behind. With --database-url it measures that database: an empty one, or
 * with --loaded one that a run before has filled. Otherwise a fresh Postgres.
 */

const { values: flags } = parseArgs({
  options: {
    pods: { type: 'string', default: '100000' },
    changes: { type: 'string', default: '80000' },
    'writes-per-second': { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '3' },
    /** `status`: every write changes the status of a pod; `life`: pods are made, bound, started and deleted. */
    writes: { type: 'string', default: 'status' },
    'database-url': { type: 'string' },
    loaded: { type: 'boolean', default: false },
  },
});
const rate = Number(flags['writes-per-second']);
const durationMs = Number(flags.seconds) * 1000;
const example = new ExampleCluster(Number(flags.pods));
const quiet = new Logger('error', 'text', () => {});
const pages = ['docs/sql.md', 'docs/history.md'];

/** Asks five times; the fastest answer and the processor time of the database per answer. */
async function ask(client: pg.Client, { sql }: Question): Promise<{ ms: number; cpuMs: number; rows: number }> {
  const times: number[] = [];
  let rows = 0;
  const cpu = await cpuOf([client]);
  for (let i = 0; i < 5; i++) {
    const began = performance.now();
    rows = (await client.query(sql)).rowCount ?? 0;
    times.push(performance.now() - began);
  }
  return { ms: Math.min(...times), cpuMs: ((await cpuOf([client])) - cpu) / 5, rows };
}

async function askAll(client: pg.Client, how: string): Promise<void> {
  for (const page of pages) {
    console.log(`\n${page}, ${how}\n\n| Question | Rows | ms | of these on the processor |\n| --- | --- | --- | --- |`);
    for (const question of questionsOf(page)) {
      const { ms, cpuMs, rows } = await ask(client, question);
      console.log(`| ${question.asks} | ${rows} | ${ms.toFixed(1)} | ${cpuMs.toFixed(0)} |`);
    }
  }
}

/** The next write in the life of a pod, after its number of writes so far: created, bound, started, ready, deleted. */
function nextOfLife(index: number, done: number): { one: ExampleObject; isDelete: boolean } {
  const one = example.pod(example.podCount + index, done);
  const object = one.object as { spec: { nodeName?: string }; status: { phase: string } };
  const step = done % 5;
  if (step === 0) delete object.spec.nodeName;
  if (step < 2) object.status.phase = 'Pending';
  return { one, isDelete: step === 4 };
}

/** Pods of `life` that are alive at a time: each is written again after about as long as pods take to start. */
const livesAtOnce = Math.max(1, Number(flags['writes-per-second']));
const livesDone = new Map<number, number>();

function nextWrite(done: number, round: number): { one: ExampleObject; isDelete: boolean } {
  if (flags.writes === 'status') {
    return { one: example.pod(Math.floor(Math.random() * example.podCount), 100 + round), isDelete: false };
  }
  const index = done % livesAtOnce;
  const so = livesDone.get(index) ?? 0;
  livesDone.set(index, so + 1);
  return nextOfLife(index, so);
}

/** Writes at a steady rate; reports how long single writes took, and how far the rows were behind. */
async function write(storage: PostgresStorage, how: string, client: pg.Client, round: number): Promise<number> {
  const times: number[] = [];
  const lags: number[] = [];
  const pending: Promise<unknown>[] = [];
  const began = performance.now();
  const [cpu, own] = [await databaseCpu(client), process.cpuUsage()];
  for (let done = 0; performance.now() - began < durationMs; ) {
    const due = Math.floor(((performance.now() - began) / 1000) * rate);
    for (; done < due; done++) {
      const { one, isDelete } = nextWrite(done, round);
      const start = performance.now();
      const json = JSON.stringify(one.object);
      const update = storage.guaranteedUpdate(one, { ignoreNotFound: true }, (current) =>
        isDelete && current !== undefined
          ? { kind: 'delete', json }
          : { kind: 'write', json, uid: current?.uid ?? one.uid },
      );
      pending.push(update.then(() => times.push(performance.now() - start)));
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
    if (how === 'tables' && done % 10 === 0) {
      const { rows } = await client.query('select extract(epoch from behind) * 1000 as ms from cluster.lag()');
      if (rows.length > 0) lags.push(Number(rows[0].ms));
    }
  }
  await Promise.all(pending);
  const seconds = (performance.now() - began) / 1000;
  // The work that the writes of this run cause is counted in this run.
  if (how === 'tables') await client.query(`select cluster.wait_for((select head from cluster.lag()), '5 minutes')`);
  const at = (list: number[], share: number) =>
    Math.round(list.toSorted((a, b) => a - b)[Math.floor((list.length - 1) * share)] ?? 0);
  const perWrite = (((await databaseCpu(client)) - cpu) * 1000) / times.length;
  const { user, system } = process.cpuUsage(own);
  console.log(
    JSON.stringify({
      how,
      writesPerSecond: Math.round(times.length / seconds),
      p50Ms: at(times, 0.5),
      p99Ms: at(times, 0.99),
      lagP50Ms: at(lags, 0.5),
      lagP99Ms: at(lags, 0.99),
      lagMostMs: at(lags, 1),
      databaseCpuPerWriteUs: Math.round(perWrite),
      writerCpuPerWriteUs: Math.round((user + system) / times.length),
    }),
  );
  return perWrite;
}

/**
 * Processor time in milliseconds of all sessions and of those that have ended, such as those of autovacuum, where the server
 * is on this machine (Linux).
 */
async function databaseCpu(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pid from pg_stat_activity');
  const [server] = processStat((await client.query('select pg_backend_pid() as pid')).rows[0].pid, [1]);
  const ended = processStat(server ?? 0, [13, 14]).reduce((sum, ticks) => sum + ticks * 10, 0);
  return rows.reduce((sum, { pid }) => sum + processCpu(pid), ended);
}

async function cpuOf(clients: readonly pg.Client[]): Promise<number> {
  let sum = 0;
  for (const client of clients) sum += processCpu((await client.query('select pg_backend_pid() as pid')).rows[0].pid);
  return sum;
}

function processCpu(pid: number): number {
  return processStat(pid, [11, 12]).reduce((sum, ticks) => sum + ticks * 10, 0);
}

/** Numbers from /proc, by their places after the name of the program: 1 is the parent, 11 to 14 are ticks of 10 ms. */
function processStat(pid: number, places: readonly number[]): number[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return places.map((place) => Number(stat[place]));
  } catch {
    // Another machine, or the process has just ended.
    return places.map(() => 0);
  }
}

async function until(client: pg.Client, sql: string): Promise<void> {
  for (;;) {
    const { rows } = await client.query(`select (${sql}) as done`);
    if (rows[0].done === true) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const postgres = flags['database-url'] === undefined ? await startTestPostgres({ fsync: true }) : undefined;
const url = flags['database-url'] ?? (await postgres?.createTestDatabase()) ?? '';
await migrate(url);
const storage = await createPostgresStorage({
  databaseUrl: url,
  retentionIntervalMs: 0,
  historyRetentionMs: 86_400_000,
});
const options = parseOptions({
  groups: { storage: StorageOptions, cluster: ClusterOptions },
  // It does log upkeep, and would give the past up.
  argv: ['--database-url', url, '--history-retention=24h'],
  environment: {},
});
const { storage: stored, cluster } = options;
const resources = await openApplicationContext(
  ResourcesAppModule.of({ storage: { ...stored, databaseUrl: url }, cluster }, quiet),
  quiet,
);
const registry = resources.get(ResourceRegistry);
const suffix = 'k8s.io';
await syncViews(url, registry.definitions(), suffix, sqlProjectionMode('views', []), quiet);
const client = new pg.Client({ connectionString: url });
await client.connect();
// A run before may have left its rows, which are filled anew.
await client.query('delete from plinth.projected_tables; delete from plinth.projection');
if (!flags.loaded) {
  const began = performance.now();
  await loadExample(url, storage, example, Number(flags.changes));
  console.log(JSON.stringify({ how: 'load', seconds: Math.round((performance.now() - began) / 1000) }));
}

/** Runs the loop that keeps the rows until the work is done. */
async function withRows(work: () => Promise<void>): Promise<void> {
  const stopping = new AbortController();
  const mode = sqlProjectionMode('tables', []);
  const timers = systemTimers;
  const loop = new SqlProjectionController({ databaseUrl: url, registry, suffix, mode, timers, logger: quiet });
  const ended = loop.run(stopping.signal);
  await until(client, `pg_get_viewdef('cluster.pods'::regclass) like '%rows_%'`);
  await client.query(`select cluster.wait_for((select head from cluster.lag()), '10 minutes')`);
  try {
    await work();
  } finally {
    stopping.abort();
    await ended.catch(() => undefined);
  }
}

const began = performance.now();
await withRows(async () => {
  console.log(JSON.stringify({ how: 'tables', fillSeconds: Math.round((performance.now() - began) / 1000) }));
  await client.query('vacuum analyze');
  await askAll(client, 'with rows');
});
const costs = { without: [] as number[], tables: [] as number[] };
for (let round = 0; round < Number(flags.rounds); round++) {
  await withRows(async () => {
    costs.tables.push(await write(storage, 'tables', client, round));
  });
  // The tables stay: filling them anew would leave work for vacuum to the next run.
  costs.without.push(await write(storage, 'without', client, round));
}
const ratios = costs.tables.map((cost, i) => cost / (costs.without[i] ?? 1)).map((ratio) => Number(ratio.toFixed(2)));
console.log(JSON.stringify({ databaseCpuOfWritesWithRowsComparedToWithout: ratios }));
await resources.close();
await client.end();
await storage.stop();
await postgres?.stop();
