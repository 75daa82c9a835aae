import { parseArgs } from 'node:util';
import pg from 'pg';
import { Http2Client } from '../test/e2e/support/http2-client.js';
import { TestCluster, type TestServer, tokens } from '../test/e2e/support/test-cluster.js';
import { Sender } from './fairness/target.js';
import { type Account, accountOf, perRequest, sumOf } from './workers/account.js';
import { allUp } from './workers/all-up.js';

/*
 * What more workers cost: processor time per request, of the processes of one server together and of PostgreSQL.
 * `npm run bench:workers -- [flags]`. The serving threads are counted apart from the others, which compile and collect
 * garbage. Where more processes than processors take turns, each finds caches that another one has filled, and the same work
 * takes longer. `--apart` shows by how much: as many servers that share nothing, not even a database, get the same load.
 *   --workers a,b     numbers of workers (default 1,2,4)
 *   --apart           also as many servers of one process, with a PostgreSQL for each
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
    apart: { type: 'boolean', default: false },
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

/** The number of serving processes: workers of one server, or servers that share nothing. */
interface Setup {
  readonly name: string;
  readonly processes: number;
  readonly servers: number;
}

const setups = flags.workers
  .split(',')
  .map(Number)
  .flatMap((processes): Setup[] => {
    const together: Setup = { name: String(processes), processes, servers: 1 };
    const apart: Setup = { name: `${processes} apart`, processes, servers: processes };
    return flags.apart && processes > 1 ? [together, apart] : [together];
  });
const results = new Map<string, Account[]>();

type Send = (method: string, path: string, body?: unknown) => Promise<number>;

/** Serials grow from the warm-up to the measured part, so each patch changes something. */
const works: Readonly<Record<string, (send: Send, serial: number) => Promise<number>>> = {
  create: (send, serial) => send('POST', pods, pod(`p-${serial}`)),
  get: (send, serial) => send('GET', `${pods}/p-${serial}`),
  patch: (send, serial) =>
    send('PATCH', `${pods}/p-${serial}`, { metadata: { annotations: { turn: String(performance.now()) } } }),
};

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

/** A server with a PostgreSQL of its own, and the client's connections to it. */
interface Target {
  readonly server: TestServer;
  readonly admin: pg.Client;
  readonly send: Send;
  close(): Promise<void>;
}

async function startTarget(workers: number, clients: number): Promise<Target> {
  const own = workers === 1 ? [] : [`--workers=${workers}`];
  const cluster = await TestCluster.start({ servers: 0, flags: ['--authorization-mode=RBAC', ...own] });
  if (flags.program !== undefined) cluster.useProgram(flags.program);
  const server = await cluster.addServer();
  const admin = new pg.Client({ connectionString: cluster.databaseUrl });
  await admin.connect();
  if (workers > 1) await allUp(server, workers);
  const { send, close } = await sender(server.url, cluster.pki.authority, clients);
  return {
    server,
    admin,
    send,
    close: async () => {
      await close();
      await admin.end();
      await cluster.stop();
    },
  };
}

/** Has the server do `count` requests from a serial on, `clients` at a time. */
async function run({ send }: Target, name: string, from: number, count: number, clients: number): Promise<void> {
  const work = works[name] as (typeof works)[string];
  let next = from;
  const client = async () => {
    for (let serial = next++; serial < from + count; serial = next++) {
      const status = await work(send, serial);
      if (status >= 300) throw new Error(`${name} ${serial}: ${status}`);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
}

async function measure({ name: setup, processes, servers }: Setup): Promise<void> {
  // As much for each process: what is left to compile depends on what it has done.
  const ofServer = (each: number) => (each * processes) / servers;
  const clients = flags.each ? ofServer(clientCount) : Math.ceil(clientCount / servers);
  const targets: Target[] = [];
  try {
    for (let i = 0; i < servers; i++) targets.push(await startTarget(processes / servers, clients));
    const all = <T>(does: (target: Target) => Promise<T>): Promise<T[]> => Promise.all(targets.map(does));
    const account = async () => sumOf(await all(({ server, admin }) => accountOf(server, admin)));
    for (const name of Object.keys(works)) {
      await all((target) => run(target, name, 0, ofServer(warm), clients));
      const began = await account();
      await all((target) => run(target, name, ofServer(warm), ofServer(requestsOfWorker), clients));
      const used = perRequest(began, await account(), requestsOfWorker * processes);
      const key = `${name}, ${setup}`;
      results.set(key, [...(results.get(key) ?? []), used]);
    }
  } finally {
    for (const target of targets) await target.close();
  }
}

for (let round = 0; round < rounds; round++) for (const setup of setups) await measure(setup);
const serving = (of: Account) => of.parent + of.workers;
const all = (of: Account) => serving(of) + of.helpers + of.database;
const best = (key: string) => (results.get(key) as Account[]).reduce((a, b) => (all(b) < all(a) ? b : a));
const columns = [
  'serving µs',
  'ratio',
  'of it parent',
  'others µs',
  'client µs',
  'PostgreSQL µs',
  'ratio',
  'statements',
];
console.log(`| request | workers | ${columns.join(' | ')} |`);
console.log(`| --- | ---: | ${columns.map(() => '---:').join(' | ')} |`);
for (const name of Object.keys(works)) {
  const one = best(`${name}, ${setups[0]?.name}`);
  for (const setup of setups) {
    const found = best(`${name}, ${setup.name}`);
    const cells = [
      serving(found).toFixed(0),
      (serving(found) / serving(one)).toFixed(2),
      setup.processes > setup.servers ? found.parent.toFixed(0) : '',
      found.helpers.toFixed(0),
      found.client.toFixed(0),
      found.database.toFixed(0),
      (found.database / one.database).toFixed(2),
      found.statements.toFixed(2),
    ];
    console.log(`| ${name} | ${setup.name} | ${cells.join(' | ')} |`);
  }
}
