import type { ApiObject } from '../src/base/machinery/api-object.js';
import { Cluster } from '../src/loops/scheduler/cluster.js';
import { findNode } from '../src/loops/scheduler/find-node.js';
import { PodInfo } from '../src/loops/scheduler/pod-info.js';
import type { Node } from '../src/objects/apis/core/v1/node.types.js';
import type { Pod } from '../src/objects/apis/core/v1/pod.types.js';
import { SharedInformers } from '../src/objects/registry/informers/shared-informers.js';
import { LoopScene } from '../test/support/loop-scene.js';
import { registeredGroups } from '../test/support/registered-groups.js';

/**
 * How fast pods get a node: decisions alone, in memory, and the whole way through a database, with the pods created
 * before the scheduler starts. `npm run bench:scheduler -- <nodes> <pods>`
 */
const nodeCount = Number(process.argv[2] ?? 1000);
const podCount = Number(process.argv[3] ?? 10_000);
const zone = 'topology.kubernetes.io/zone';
const hostname = 'kubernetes.io/hostname';

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

function nodeNamed(i: number): object {
  const name = `node-${i}`;
  return {
    metadata: { name, labels: { [hostname]: name, [zone]: `zone-${i % 3}` } },
    status: { allocatable: { cpu: '16', memory: '64Gi', pods: '110' } },
  };
}

/** A pod of one of 20 workloads. */
function podNamed(i: number, spec: object): object {
  return {
    metadata: { name: `pod-${i}`, namespace: 'default', uid: `uid-${i}`, labels: { app: `app-${i % 20}` } },
    spec: {
      schedulerName: 'default-scheduler',
      containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '100m', memory: '200Mi' } } }],
      ...spec,
    },
  };
}

const selectorOf = (i: number) => ({ labelSelector: { matchLabels: { app: `app-${i % 20}` } } });
const weighted = (i: number) => [{ weight: 100, podAffinityTerm: { topologyKey: hostname, ...selectorOf(i) } }];

const kinds: Readonly<Record<string, (i: number) => object>> = {
  'plain pods': () => ({}),
  'node affinity': () => ({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: zone, operator: 'In', values: ['zone-0', 'zone-1'] }] }],
        },
      },
    },
  }),
  'spread over zones and nodes': (i) => ({
    topologySpreadConstraints: [
      { maxSkew: 5, topologyKey: zone, whenUnsatisfiable: 'DoNotSchedule', ...selectorOf(i) },
      { maxSkew: 3, topologyKey: hostname, whenUnsatisfiable: 'ScheduleAnyway', ...selectorOf(i) },
    ],
  }),
  'preferred anti-affinity': (i) => ({
    affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: weighted(i) } },
  }),
  'required anti-affinity': (i) => ({
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: hostname, ...selectorOf(i) }],
      },
    },
  }),
};

function decisions(name: string, specOf: (i: number) => object): void {
  const cluster = new Cluster('kubernetes.io');
  for (let i = 0; i < nodeCount; i++) cluster.setNode(nodeNamed(i) as Node & ApiObject);
  let from = 0;
  let placed = 0;
  let slowest = 0;
  const began = performance.now();
  for (let i = 0; i < podCount; i++) {
    const podBegan = performance.now();
    const info = new PodInfo(podNamed(i, specOf(i)) as Pod & ApiObject);
    const found = findNode(info, cluster, { random: Math.random, from });
    if (found.kind === 'found') {
      cluster.addPod(info, found.node);
      from = (from + found.seen) % nodeCount;
      placed += 1;
    }
    slowest = Math.max(slowest, performance.now() - podBegan);
  }
  const seconds = (performance.now() - began) / 1000;
  print(
    `decisions, ${name.padEnd(28)} ${(podCount / seconds).toFixed(0).padStart(6)} pods/s  ` +
      `${placed} of ${podCount} placed, slowest ${slowest.toFixed(1)} ms`,
  );
}

/**
 * How long the event loop was held, in processor time: on a machine that does other things, a clock would count those too.
 */
class Stalls {
  private timer: NodeJS.Timeout | undefined;
  longestMs = 0;

  start(): void {
    let last = this.usedMs();
    this.timer = setInterval(() => {
      const now = this.usedMs();
      this.longestMs = Math.max(this.longestMs, now - last);
      last = now;
    }, 1);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private usedMs(): number {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  }
}

async function wholeWay(): Promise<void> {
  const scene = await LoopScene.start();
  try {
    const inGroups = async (count: number, create: (i: number) => Promise<unknown>) => {
      for (let first = 0; first < count; first += 100) {
        await Promise.all(Array.from({ length: Math.min(100, count - first) }, (_, i) => create(first + i)));
      }
    };
    await inGroups(nodeCount, (i) => scene.create('nodes', nodeNamed(i) as ApiObject));
    await inGroups(podCount, (i) => scene.create('pods', podNamed(i, {}) as ApiObject));
    const stop = new AbortController();
    const { registry } = await registeredGroups(scene.storage);
    const informers = new SharedInformers(scene.storage, registry, (error) => print(String(error)));
    const pods = informers.of<Pod & ApiObject>({ group: '', resource: 'pods' });
    await pods.use(stop.signal);
    const stalls = new Stalls();
    let placed = 0;
    let first = 0;
    const allPlaced = new Promise<void>((resolve) => {
      const changed = (pod: Pod | undefined, old: Pod | undefined) => {
        if (!pod?.spec.nodeName || old?.spec.nodeName) return;
        if (placed === 0) {
          first = performance.now();
        }
        placed += 1;
        if (placed === podCount) resolve();
      };
      void pods.subscribe({ changed }, stop.signal);
    });
    const cpu = process.cpuUsage();
    stalls.start();
    const began = performance.now();
    const loops = await scene.run(['scheduler']);
    await allPlaced;
    const now = performance.now();
    const { user, system } = process.cpuUsage(cpu);
    stalls.stop();
    print(
      `whole way, plain pods                   ${((podCount / (now - first)) * 1000).toFixed(0).padStart(6)} pods/s  ` +
        `longest without a break ${stalls.longestMs.toFixed(1)} ms of processor time; ` +
        `first after ${((first - began) / 1000).toFixed(1)} s, ${((user + system) / 1e6).toFixed(1)} s of processor time`,
    );
    stop.abort();
    await loops.stop();
  } finally {
    await scene.end();
  }
}

for (const [name, specOf] of Object.entries(kinds)) decisions(name, specOf);
await wholeWay();
