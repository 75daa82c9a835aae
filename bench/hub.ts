import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { CachedStorage } from '../src/storage/cacher/cached-storage.js';
import { DatabaseHub } from '../src/storage/hub/database-hub.js';
import { HubDatabase } from '../src/storage/hub/hub-database.js';
import { PostgresStorage } from '../src/storage/postgres/postgres-storage.js';
import { resolveOptions } from '../src/storage/postgres/postgres-storage-options.js';
import { childrenOf, parentOf, processorMicroseconds } from '../test/e2e/support/processes.js';
import { startTestPostgres } from '../test/support/test-postgres.js';
import { podJson } from './pod-json.js';

/*
 * What it costs that processes share one way to the database, without the rest of a request: processor time per create, get
 * and update of a Pod, of the process with the connections, of the others together, and of PostgreSQL.
 * `npm run bench:hub -- [flags]`. It takes few seconds, so it can show more workers than the machine has cores.
 *   --workers a,b   numbers of workers (default 1,4,16); 1 has the connections itself
 *   --busy N        workers that do the work (default all)
 *   --requests N    requests of each kind that are counted (default 4,000), after as many to warm up
 *   --clients N     requests under way (default 32)
 *   --work US       microseconds of other work per request, which are not in the figures (default 100)
 *   --watched       each worker has a watch cache of the Pods
 */
const { values: flags } = parseArgs({
  options: {
    workers: { type: 'string', default: '1,4,16' },
    busy: { type: 'string' },
    requests: { type: 'string', default: '4000' },
    clients: { type: 'string', default: '32' },
    work: { type: 'string', default: '100' },
    watched: { type: 'boolean', default: false },
  },
});
const [requests, clients, workUs] = [flags.requests, flags.clients, flags.work].map(Number) as [number, number, number];
const kinds = ['create', 'get', 'update'] as const;
type Kind = (typeof kinds)[number];

interface Task {
  readonly kind: Kind;
  readonly from: number;
  readonly count: number;
  readonly clients: number;
}

/** Keeps the event loop busy, as the rest of a request does. */
function otherWork(): void {
  const end = performance.now() + workUs / 1000;
  while (performance.now() < end);
}

async function work(storage: CachedStorage, { kind, from, count, clients: own }: Task, who: string): Promise<void> {
  let next = from;
  const client = async () => {
    while (next < from + count) {
      const serial = next++;
      const name = `pod-${who}-${serial}`;
      const key = { resource: 'pods', namespace: 'default', name };
      otherWork();
      if (kind === 'create') await storage.create(key, name, podJson(name, serial));
      else if (kind === 'get') await storage.get(key);
      else {
        await storage.guaranteedUpdate(key, {}, () => ({ kind: 'write', uid: name, json: podJson(name, -serial) }));
      }
    }
  };
  await Promise.all(Array.from({ length: own }, client));
}

async function withCache(storage: PostgresStorage): Promise<CachedStorage> {
  await storage.start();
  const cached = new CachedStorage(storage);
  if (flags.watched)
    await cached.watch({ resource: 'pods' }, (await cached.list({ resource: 'pods' })).resourceVersion);
  return cached;
}

async function beWorker(who: string): Promise<void> {
  const socket = new Socket({ fd: 4 });
  const options = resolveOptions({ databaseUrl: 'postgres://nobody@127.0.0.1:1/none', poolSize: 4 });
  const storage = await withCache(new PostgresStorage(options, (all, events) => new HubDatabase(socket, all, events)));
  process.on('message', (task: Task) => void work(storage, task, who).then(() => process.send?.('done')));
  process.on('disconnect', () => process.exit());
  process.send?.('ready');
}

interface Machine {
  readonly busy: number;
  /** The processes of the workers; none when this process does the work. */
  readonly workers: readonly ChildProcess[];
  run(task: Omit<Task, 'clients'>): Promise<void>;
  stop(): Promise<void>;
}

async function alone(databaseUrl: string): Promise<Machine> {
  const storage = new PostgresStorage(resolveOptions({ databaseUrl, poolSize: 4 }));
  const cached = await withCache(storage);
  return {
    busy: 1,
    workers: [],
    run: (task) => work(cached, { ...task, clients }, '1'),
    stop: async () => {
      await cached.stop();
      await storage.stop();
    },
  };
}

async function together(databaseUrl: string, count: number): Promise<Machine> {
  const hub = new DatabaseHub(resolveOptions({ databaseUrl, poolSize: 4 * count }));
  const workers = Array.from({ length: count }, (_, i) =>
    fork(import.meta.filename, process.argv.slice(2), {
      env: { ...process.env, HUB_WORKER: String(i + 1) },
      stdio: ['inherit', 'inherit', 'inherit', 'ipc', 'pipe'],
    }),
  );
  const ready = Promise.all(workers.map((worker) => once(worker, 'message')));
  for (const worker of workers) hub.serve(worker.stdio[4] as Socket);
  await ready;
  const busy = Math.min(count, Number(flags.busy ?? count));
  return {
    busy,
    workers,
    run: async (task) => {
      await Promise.all(
        workers.slice(0, busy).map(async (worker) => {
          const done = once(worker, 'message');
          worker.send({ ...task, count: task.count / busy, clients: Math.max(1, Math.round(clients / busy)) });
          await done;
        }),
      );
    },
    stop: async () => {
      await Promise.all(
        workers.map(async (worker) => {
          const ended = once(worker, 'exit');
          worker.disconnect();
          await ended;
        }),
      );
      await hub.stop(1000);
    },
  };
}

async function measure(count: number, postgres: Awaited<ReturnType<typeof startTestPostgres>>): Promise<void> {
  const databaseUrl = await postgres.createTestDatabase();
  const admin = new pg.Client({ connectionString: databaseUrl });
  await admin.connect();
  const { rows } = await admin.query<{ pid: number }>('select pg_backend_pid() as pid');
  const postmaster = parentOf(rows[0]?.pid as number);
  const machine = count === 1 ? await alone(databaseUrl) : await together(databaseUrl, count);
  const sum = (pids: readonly number[]) => pids.reduce((total, pid) => total + processorMicroseconds(pid), 0);
  const pids = machine.workers.map(({ pid }) => pid as number);
  const statements = async () => {
    await admin.query('select pg_stat_force_next_flush()');
    const { rows } = await admin.query(
      'select xact_commit::int as count from pg_stat_database where datname = current_database()',
    );
    return rows[0].count as number;
  };
  const account = async () => [
    processorMicroseconds(process.pid),
    sum(pids.slice(0, machine.busy)),
    sum(pids.slice(machine.busy)),
    sum(childrenOf(postmaster)),
    (await statements()) * 1000,
  ];
  for (const kind of kinds) {
    await machine.run({ kind, from: 0, count: requests });
    const began = await account();
    await machine.run({ kind, from: requests, count: requests });
    const spent = (await account()).map((now, i) => (now - (began[i] as number)) / requests);
    // The one process of a server has done the other work too.
    spent[machine.workers.length === 0 ? 0 : 1] = (spent[machine.workers.length === 0 ? 0 : 1] as number) - workUs;
    const all = spent.slice(0, 3).reduce((total, part) => total + part, 0);
    const cells = [kind, count, all, ...spent].map((cell) => (typeof cell === 'number' ? cell.toFixed(0) : cell));
    console.log(`| ${cells.join(' | ')} |`);
  }
  await machine.stop();
  await admin.end();
}

const who = process.env.HUB_WORKER;
if (who !== undefined) await beWorker(who);
else {
  const postgres = await startTestPostgres({ fsync: false });
  try {
    console.log(
      '| request | workers | server µs | of it parent | busy | idle | PostgreSQL µs | statements per 1,000 |',
    );
    console.log('| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |');
    for (const count of flags.workers.split(',').map(Number)) await measure(count, postgres);
  } finally {
    await postgres.stop();
  }
}
