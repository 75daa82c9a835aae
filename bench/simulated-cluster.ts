import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { childrenOf, isRunning, parentOf, processorSeconds, residentBytes } from '../test/e2e/support/processes.js';
import { ScenarioCluster } from '../test/scenarios/scenario-cluster.js';
import { deployment } from '../test/scenarios/scene.js';

/*
 * A cluster of simulated nodes that fills, rests and empties, and what each process costs meanwhile, over two real
 * servers: `npm run bench:simulated-cluster -- [flags]`
 *   --nodes N         simulated nodes of one process (default 1,000)
 *   --pods N          pods, in deployments of 500 (default 50,000)
 *   --rest SECONDS    how long the filled cluster is watched (default 60)
 *   --upstream DIR    upstream's kube-controller-manager and kube-scheduler in place of our own loops
 *   --upstream-qps N  requests per second that those allow themselves (default 5,000; their own default is 20 and 50)
 */
const { values: flags } = parseArgs({
  options: {
    nodes: { type: 'string', default: '1000' },
    pods: { type: 'string', default: '50000' },
    rest: { type: 'string', default: '60' },
    upstream: { type: 'string' },
    'upstream-qps': { type: 'string', default: '5000' },
  },
});
const nodes = Number(flags.nodes);
const pods = Number(flags.pods);
const perDeployment = Math.min(500, pods);
const restMs = Number(flags.rest) * 1000;
const patienceMs = 3_600_000;
const reportMs = 10_000;
const limits = [`--kube-api-qps=${flags['upstream-qps']}`, `--kube-api-burst=${flags['upstream-qps']}`];

/** The first process of the database and its children count as one. */
async function databasePid(cluster: ScenarioCluster): Promise<number> {
  const client = new pg.Client({ connectionString: cluster.cluster.databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const pid = parentOf(rows[0]?.pid ?? 0);
  await client.end();
  return pid;
}

type Cost = Readonly<Record<string, { readonly cpu: number; readonly bytes: number }>>;

function costs(cluster: ScenarioCluster, database: number): Cost {
  const all = childrenOf(database);
  return {
    ...Object.fromEntries(
      cluster.processes.map(({ name, pid }) => [name, { cpu: processorSeconds(pid), bytes: residentBytes(pid) }]),
    ),
    database: {
      cpu: [database, ...all.filter(isRunning)].reduce((sum, pid) => sum + processorSeconds(pid), 0),
      bytes: 0,
    },
  };
}

function report(what: string, took: number, before: Cost, after: Cost): void {
  console.log(`\n${what}: ${took.toFixed(1)} s`);
  for (const [name, { cpu, bytes }] of Object.entries(after)) {
    const used = cpu - (before[name]?.cpu ?? 0);
    const memory = bytes === 0 ? '' : `${(bytes / 2 ** 20).toFixed(0).padStart(8)} MiB`;
    console.log(`  ${name.padEnd(24)} ${used.toFixed(1).padStart(8)} s of processor time ${memory}`);
  }
}

const begun = performance.now();
const cluster = await ScenarioCluster.start({
  nodes,
  patienceMs,
  podsPerNode: Math.max(110, Math.ceil((pods / nodes) * 1.2)),
  upstream: flags.upstream,
  upstreamFlags: limits,
  schedulerFlags: limits,
});
try {
  const database = await databasePid(cluster);
  let last = costs(cluster, database);
  const phase = async (what: string, work: () => Promise<unknown>) => {
    const from = performance.now();
    await work();
    const now = costs(cluster, database);
    report(what, (performance.now() - from) / 1000, last, now);
    last = now;
  };
  const secondsSoFar = ((performance.now() - begun) / 1000).toFixed(1);
  console.log(`two servers, loops and ${nodes} registered nodes after ${secondsSoFar} s`);
  report('since the start', (performance.now() - begun) / 1000, {}, last);
  const scene = await cluster.scene();
  const names = Array.from({ length: Math.ceil(pods / perDeployment) }, (_, i) => `web-${i}`);
  const available = async () => {
    const all = await scene.list('deployments');
    return all.reduce((sum, { status }) => sum + (status?.availableReplicas ?? 0), 0);
  };
  await phase(`${pods} pods on ${nodes} nodes run`, async () => {
    for (const name of names) await scene.create('deployments', deployment(name, perDeployment));
    const from = performance.now();
    let shown = from;
    for (;;) {
      const count = await available();
      if (count >= names.length * perDeployment) return;
      if (performance.now() > from + patienceMs) throw new Error('not all pods run');
      if (performance.now() > shown + reportMs) {
        shown = performance.now();
        console.log(`  ${((shown - from) / 1000).toFixed(0).padStart(5)} s ${String(count).padStart(7)} run`);
      }
      await delay(500);
    }
  });
  await phase('at rest', () => delay(restMs));
  await phase('all gone', async () => {
    await scene.delete('namespaces', scene.namespace);
    await scene.untilGone('namespaces', scene.namespace);
  });
} finally {
  await cluster.stop();
}
