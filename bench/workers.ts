import { parseArgs } from 'node:util';
import pg from 'pg';
import { childrenOf, parentOf, processorSeconds } from '../test/e2e/support/processes.js';
import { eventually, TestCluster, type TestServer, tokens } from '../test/e2e/support/test-cluster.js';
import { Sender } from './fairness/target.js';

/*
 * What more workers cost: processor time per request, of the processes of one server together and of PostgreSQL.
 * `npm run bench:workers -- [flags]`. The times hardly depend on how busy the machine is; rates do.
 *   --workers a,b   numbers of workers (default 1,2,4)
 *   --requests N    requests of each kind (default 6,000)
 *   --clients N     connections (default 32)
 *   --rounds N      how often, in turn (default 2)
 */
const { values: flags } = parseArgs({
  options: {
    workers: { type: 'string', default: '1,2,4' },
    requests: { type: 'string', default: '6000' },
    clients: { type: 'string', default: '32' },
    rounds: { type: 'string', default: '2' },
  },
});
const [requests, clients, rounds] = [Number(flags.requests), Number(flags.clients), Number(flags.rounds)];
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

async function seconds(server: TestServer, admin: pg.Client): Promise<{ server: number; database: number }> {
  const parent = server.process.pid as number;
  const own = [parent, ...childrenOf(parent)];
  const { rows } = await admin.query<{ pid: number }>('select pg_backend_pid() as pid');
  const postmaster = parentOf(rows[0]?.pid as number);
  const sum = (pids: readonly number[]) => pids.reduce((total, pid) => total + processorSeconds(pid), 0);
  return { server: sum(own), database: sum([postmaster, ...childrenOf(postmaster)]) };
}

/** Serials grow from the warm-up to the measured part, so each patch changes something; Pods repeat after `requests`. */
const works: Readonly<Record<string, (sender: Sender, serial: number) => Promise<{ status: number }>>> = {
  create: (sender, serial) => sender.send('POST', pods, pod(`p-${serial}`)),
  get: (sender, serial) => sender.send('GET', `${pods}/p-${serial}`),
  patch: (sender, serial) =>
    sender.send('PATCH', `${pods}/p-${serial % requests}`, { metadata: { annotations: { turn: String(serial) } } }),
};

const results = new Map<string, { server: number[]; database: number[] }>();

/** Resolves when all workers serve: clients would have to connect again otherwise. */
async function allUp({ client }: TestServer, workers: number): Promise<void> {
  await eventually(async () => {
    const { text } = await client.get('/metrics');
    return text.split('\n').filter((line) => /^plinth_worker_up\{.*\} 1$/.test(line)).length === workers;
  }, 'all workers to be up');
}

async function measure(workers: number): Promise<void> {
  const flag = workers === 1 ? [] : [`--workers=${workers}`];
  const cluster = await TestCluster.start({ servers: 1, flags: ['--authorization-mode=RBAC', ...flag] });
  const admin = new pg.Client({ connectionString: cluster.databaseUrl });
  await admin.connect();
  try {
    if (workers > 1) await allUp(cluster.first, workers);
    const target = { name: 'plinth', url: cluster.first.url, token: tokens.admin };
    const sender = new Sender(target, undefined, clients);
    const run = async (name: string, from: number, count: number): Promise<void> => {
      let next = from;
      const client = async () => {
        for (let serial = next++; serial < from + count; serial = next++) {
          const { status } = await (works[name] as (typeof works)[string])(sender, serial);
          if (status >= 300) throw new Error(`${name} ${serial}: ${status}`);
        }
      };
      await Promise.all(Array.from({ length: clients }, client));
    };
    for (const name of Object.keys(works)) {
      // Code is compiled by then.
      await run(name, 0, requests);
      const before = await seconds(cluster.first, admin);
      await run(name, requests, requests);
      const after = await seconds(cluster.first, admin);
      const key = `${name}, ${workers}`;
      const own = results.get(key) ?? { server: [], database: [] };
      results.set(key, own);
      own.server.push(((after.server - before.server) / requests) * 1e6);
      own.database.push(((after.database - before.database) / requests) * 1e6);
    }
    sender.close();
  } finally {
    await admin.end();
    await cluster.stop();
  }
}

const counts = flags.workers.split(',').map(Number);
for (let round = 0; round < rounds; round++) for (const workers of counts) await measure(workers);
const least = (values: readonly number[]) => Math.min(...values);
console.log('| request | workers | server µs | ratio | PostgreSQL µs | ratio |');
console.log('| --- | ---: | ---: | ---: | ---: | ---: |');
for (const name of Object.keys(works)) {
  const one = results.get(`${name}, ${counts[0]}`) as { server: number[]; database: number[] };
  for (const workers of counts) {
    const { server, database } = results.get(`${name}, ${workers}`) as typeof one;
    const cells = [
      least(server),
      least(server) / least(one.server),
      least(database),
      least(database) / least(one.database),
    ];
    const texts = cells.map((cell, i) => cell.toFixed(i % 2 === 0 ? 0 : 2));
    console.log(`| ${name} | ${workers} | ${texts.join(' | ')} |`);
  }
}
