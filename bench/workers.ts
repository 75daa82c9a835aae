import { parseArgs } from 'node:util';
import pg from 'pg';
import { Http2Client } from '../test/e2e/support/http2-client.js';
import {
  childrenOf,
  parentOf,
  processorMicroseconds,
  servingThreadMicroseconds,
} from '../test/e2e/support/processes.js';
import { eventually, TestCluster, type TestServer, tokens } from '../test/e2e/support/test-cluster.js';
import { Sender } from './fairness/target.js';

/*
 * What more workers cost: processor time per request, of the processes of one server together and of PostgreSQL.
 * `npm run bench:workers -- [flags]`. The serving threads are counted apart from the others, which compile and collect
 * garbage. The client does the same for each request however many workers there are, so what it needs shows how much dearer
 * the same work becomes where more processes than processors take turns: `even` is the ratio of the serving threads divided by
 * that of the client.
 *   --workers a,b     numbers of workers (default 1,2,4)
 *   --requests N      requests of each kind that are counted, for each worker (default 6,000)
 *   --warm N          requests of each kind and worker before (default 6,000): code is compiled then
 *   --clients N       requests under way (default 32)
 *   --each            as many for each worker, instead of all together: what more workers are for
 *   --connections N   HTTP/2 connections that they share, instead of one HTTP/1.1 connection for each. With 1, one worker
 *                     does all the work.
 *   --rounds N        how often, in turn (default 2)
 *   --program FILE    the server: dist/src/main.js of another tree
 */
const { values: flags } = parseArgs({
  options: {
    workers: { type: 'string', default: '1,2,4' },
    requests: { type: 'string', default: '6000' },
    warm: { type: 'string', default: '6000' },
    clients: { type: 'string', default: '32' },
    each: { type: 'boolean', default: false },
    connections: { type: 'string' },
    rounds: { type: 'string', default: '2' },
    program: { type: 'string' },
  },
});
const [requestsOfWorker, warm, clientCount, rounds] = [flags.requests, flags.warm, flags.clients, flags.rounds].map(
  Number,
) as [number, number, number, number];
const pods = '/api/v1/namespaces/default/pods';

const pod = (name: string) => ({
  metadata: { name, labels: { app: 'bench', part: name } },
  spec: {
    containers: ['main', 'sidecar'].map((container) => ({
      name: container,
      image: 'registry.example/team/image:1.2.3',
      env: Array.from({ length: 8 }, (_, i) => ({ name: `SETTING_${i}`, value: `value ${i}` })),
      resources: { requests: { cpu: '100m', memory: '64Mi' } },
    })),
  },
});

/** Microseconds of processor time. */
interface Account {
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

const accounts = ['parent', 'workers', 'helpers', 'database', 'client', 'statements'] as const;

type Send = (method: string, path: string, body?: unknown) => Promise<number>;

/** Serials grow from the warm-up to the measured part, so each patch changes something. */
const works: Readonly<Record<string, (send: Send, serial: number) => Promise<number>>> = {
  create: (send, serial) => send('POST', pods, pod(`p-${serial}`)),
  get: (send, serial) => send('GET', `${pods}/p-${serial}`),
  patch: (send, serial) =>
    send('PATCH', `${pods}/p-${serial}`, { metadata: { annotations: { turn: String(performance.now()) } } }),
};

const counts = flags.workers.split(',').map(Number);
const results = new Map<string, Account[]>();

async function account({ process: parent, client }: TestServer, admin: pg.Client): Promise<Account> {
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

/** Resolves when all workers serve: clients would have to connect again otherwise. */
async function allUp({ client }: TestServer, workers: number): Promise<void> {
  await eventually(async () => {
    const { text } = await client.get('/metrics');
    return text.split('\n').filter((line) => /^plinth_worker_up\{.*\} 1$/.test(line)).length === workers;
  }, 'all workers to be up');
}

async function sender(
  url: string,
  ca: string,
  clients: number,
): Promise<{ readonly send: Send; readonly close: () => unknown }> {
  if (flags.connections === undefined) {
    const target = { name: 'plinth', url, token: tokens.admin };
    const single = new Sender(target, undefined, clients);
    return {
      send: async (method, path, body) => (await single.send(method, path, body)).status,
      close: () => single.close(),
    };
  }
  const all = await Promise.all(
    Array.from({ length: Number(flags.connections) }, () => Http2Client.connect(url, ca, tokens.admin)),
  );
  let turn = 0;
  return {
    send: async (method, path, body) => {
      const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
      const one = all[turn++ % all.length] as Http2Client;
      const fields = body === undefined ? {} : { 'content-type': type };
      return (await one.send(method, path, fields, body === undefined ? undefined : JSON.stringify(body))).status;
    },
    close: () => Promise.all(all.map((one) => one.close())),
  };
}

async function measure(workers: number): Promise<void> {
  const own = workers === 1 ? [] : [`--workers=${workers}`];
  const clients = flags.each ? clientCount * workers : clientCount;
  const requests = requestsOfWorker * workers;
  // As much for each worker: what is left to compile depends on what a process has done.
  const before = warm * workers;
  const cluster = await TestCluster.start({ servers: 0, flags: ['--authorization-mode=RBAC', ...own] });
  if (flags.program !== undefined) cluster.useProgram(flags.program);
  const server = await cluster.addServer();
  const admin = new pg.Client({ connectionString: cluster.databaseUrl });
  await admin.connect();
  try {
    if (workers > 1) await allUp(server, workers);
    const { send, close } = await sender(server.url, cluster.pki.authority, clients);
    const run = async (name: string, from: number, count: number): Promise<void> => {
      let next = from;
      const client = async () => {
        for (let serial = next++; serial < from + count; serial = next++) {
          const status = await (works[name] as (typeof works)[string])(send, serial);
          if (status >= 300) throw new Error(`${name} ${serial}: ${status}`);
        }
      };
      await Promise.all(Array.from({ length: clients }, client));
    };
    for (const name of Object.keys(works)) {
      await run(name, 0, before);
      const began = await account(server, admin);
      await run(name, before, requests);
      const ended = await account(server, admin);
      const key = `${name}, ${workers}`;
      const each = accounts.map((part) => [part, (ended[part] - began[part]) / requests]);
      results.set(key, [...(results.get(key) ?? []), Object.fromEntries(each)]);
    }
    await close();
  } finally {
    await admin.end();
    await cluster.stop();
  }
}

for (let round = 0; round < rounds; round++) for (const workers of counts) await measure(workers);
const serving = (of: Account) => of.parent + of.workers;
const all = (of: Account) => serving(of) + of.helpers + of.database;
const best = (key: string) => (results.get(key) as Account[]).reduce((a, b) => (all(b) < all(a) ? b : a));
const columns = [
  'serving µs',
  'ratio',
  'of it parent',
  'client µs',
  'even',
  'others µs',
  'PostgreSQL µs',
  'ratio',
  'statements',
];
console.log(`| request | workers | ${columns.join(' | ')} |`);
console.log(`| --- | ---: | ${columns.map(() => '---:').join(' | ')} |`);
for (const name of Object.keys(works)) {
  const one = best(`${name}, ${counts[0]}`);
  for (const workers of counts) {
    const found = best(`${name}, ${workers}`);
    const ratio = serving(found) / serving(one);
    const cells = [
      serving(found).toFixed(0),
      ratio.toFixed(2),
      workers === 1 ? '' : found.parent.toFixed(0),
      found.client.toFixed(0),
      (ratio / (found.client / one.client)).toFixed(2),
      found.helpers.toFixed(0),
      found.database.toFixed(0),
      (found.database / one.database).toFixed(2),
      found.statements.toFixed(2),
    ];
    console.log(`| ${name} | ${workers} | ${cells.join(' | ')} |`);
  }
}
