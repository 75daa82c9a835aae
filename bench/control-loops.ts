import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { ApiClient } from '../test/e2e/support/api-client.js';
import { residentBytes } from '../test/e2e/support/processes.js';
import { ScenarioCluster } from '../test/scenarios/scenario-cluster.js';
import { deployment, type Scene } from '../test/scenarios/scene.js';

/*
 * How long control loops take for much at once, on two real servers: `npm run bench:loops -- [flags]`
 *   --objects N       dependents and content of a namespace (default 10,000)
 *   --many N          objects that lie there while memory is read (default 100,000; 0: none)
 *   --replicas N      pods of a deployment on 100 simulated nodes (default 1,000)
 *   --only a,b        the parts whose name has one of the texts
 *   --upstream DIR    upstream's kube-controller-manager and kube-scheduler in place of our own loops, on the same servers
 *   --upstream-qps N  requests per second that those allow themselves (default 5,000). Their own defaults, 20 and 50,
 *                     decide alone how long everything takes.
 */
const { values: flags } = parseArgs({
  options: {
    objects: { type: 'string', default: '10000' },
    many: { type: 'string', default: '100000' },
    only: { type: 'string', default: '' },
    upstream: { type: 'string' },
    'upstream-qps': { type: 'string', default: '5000' },
    replicas: { type: 'string', default: '1000' },
  },
});
const objects = Number(flags.objects);
const many = Number(flags.many);
const replicas = Number(flags.replicas);
const nodes = 100;
const writers = 32;
const patienceMs = 1_800_000;
const limits = [`--kube-api-qps=${flags['upstream-qps']}`, `--kube-api-burst=${flags['upstream-qps']}`];

type Reference = Readonly<Record<string, unknown>>;

async function inParallel(count: number, work: (i: number) => Promise<void>): Promise<void> {
  let next = 0;
  const writer = async () => {
    for (let i = next++; i < count; i = next++) await work(i);
  };
  await Promise.all(Array.from({ length: writers }, writer));
}

async function createMaps(scene: Scene, prefix: string, count: number, owners: Reference[] = []): Promise<void> {
  const path = scene.path('configmaps');
  await inParallel(count, async (i) => {
    const metadata = { name: `${prefix}-${i}`, labels: { part: prefix }, ownerReferences: owners };
    const answer = await scene.client.post(path, { metadata, data: { a: 'b' } });
    if (answer.status !== 201) throw new Error(answer.text);
  });
}

async function seconds(work: () => Promise<void>): Promise<string> {
  const begun = performance.now();
  await work();
  return `${((performance.now() - begun) / 1000).toFixed(1).padStart(8)} s`;
}

/** Looks every 50 ms until the path has no objects, or is not there. */
async function untilGone(client: ApiClient, path: string): Promise<void> {
  const until = performance.now() + patienceMs;
  while (performance.now() < until) {
    const { status, body } = await client.get(path);
    if (status === 404 || body.items?.length === 0) return;
    await delay(50);
  }
  throw new Error(`${path} does not go`);
}

/** The memory of the processes with loops. */
function memory(cluster: ScenarioCluster): string {
  const bytes = cluster.pids.map(residentBytes).reduce((sum, one) => sum + one, 0);
  return `${(bytes / 2 ** 20).toFixed(0)} MiB`;
}

interface Part {
  readonly name: string;
  readonly needsNodes?: boolean;
  run(scene: Scene, cluster: ScenarioCluster): Promise<string>;
}

const cascade = (name: string, propagationPolicy: string, ownerFields: Reference): Part => ({
  name,
  run: async (scene) => {
    const { metadata } = await scene.create('configmaps', { metadata: { name: 'owner' } });
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: metadata.uid, ...ownerFields };
    await createMaps(scene, 'dependent', objects, [owner]);
    return seconds(async () => {
      await scene.delete('configmaps', 'owner', { propagationPolicy });
      await untilGone(scene.client, scene.path('configmaps', 'owner'));
      if (propagationPolicy === 'Orphan') return;
      await untilGone(scene.client, `${scene.path('configmaps')}?limit=1&labelSelector=part%3Ddependent`);
    });
  },
});

const parts: readonly Part[] = [
  {
    name: `deployment of ${replicas} replicas on ${nodes} nodes, until all run`,
    needsNodes: true,
    run: async (scene, cluster) => {
      const took = await seconds(async () => {
        await scene.create('deployments', deployment('web', replicas));
        await scene.until('deployments', 'web', 'all run', ({ status }) => status?.availableReplicas === replicas);
      });
      return `${took}, then ${memory(cluster)}`;
    },
  },
  cascade(`cascade of ${objects} dependents, background`, 'Background', {}),
  cascade(`cascade of ${objects} dependents, foreground`, 'Foreground', { blockOwnerDeletion: true }),
  cascade(`orphaning of ${objects} dependents`, 'Orphan', {}),
  {
    name: `deletion of a namespace with ${objects} objects`,
    run: async (scene) => {
      await createMaps(scene, 'content', objects);
      return seconds(async () => {
        await scene.delete('namespaces', scene.namespace);
        await untilGone(scene.client, `/api/v1/namespaces/${scene.namespace}`);
      });
    },
  },
  {
    name: `memory of the loops with ${many} objects`,
    run: async (scene, cluster) => {
      if (many === 0) return 'left out';
      const before = memory(cluster);
      await createMaps(scene, 'many', many);
      await delay(5_000);
      return `${memory(cluster)} (${before} before)`;
    },
  },
];

const texts = flags.only.split(',');
const chosen = parts.filter(({ name }) => texts.some((text) => name.includes(text)));
const cluster = await ScenarioCluster.start({
  nodes: chosen.some((part) => part.needsNodes) ? nodes : 0,
  patienceMs,
  upstream: flags.upstream,
  upstreamFlags: limits,
  schedulerFlags: limits,
});
const whose =
  flags.upstream === undefined
    ? "Plinth's own loops"
    : `upstream's loops, ${flags['upstream-qps']} requests per second`;
console.log(whose);
try {
  for (const part of chosen) {
    console.log(`${part.name.padEnd(52)} ${await part.run(await cluster.scene(), cluster)}`);
  }
} finally {
  await cluster.stop();
}
