import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, freePort, TestCluster } from '../e2e/support/test-cluster.js';
import { Random } from '../support/random.js';

/**
 * Lets upstream's scheduler and ours place the same pods in the same clusters, drawn at random, and compares the
 * placements and messages: `PLINTH_UPSTREAM_SCHEDULER=<kube-scheduler 1.20> npm run check:scheduler -- <cases> <seed>`.
 * Fails when only one of them refuses a pod, or the reasons differ. They may choose different nodes among several:
 * newer releases than 1.20 count preferred affinity and balance in another way.
 */
const binary = process.env.PLINTH_UPSTREAM_SCHEDULER ?? '';
const cases = Number(process.argv[2] ?? 100);
const seed = Number(process.argv[3] ?? 1);
const perCluster = 20;
const podsPath = '/api/v1/namespaces/default/pods';
const names = { ours: 'default-scheduler', upstream: 'upstream' } as const;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Today's weights, as those of 1.20 differ. */
const configuration = (kubeconfig: string, ports: readonly number[]) => `apiVersion: kubescheduler.config.k8s.io/v1beta1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: "${kubeconfig}", qps: 1000, burst: 1000}
leaderElection: {leaderElect: false}
healthzBindAddress: "127.0.0.1:${ports[0]}"
metricsBindAddress: "127.0.0.1:${ports[1]}"
profiles:
- schedulerName: ${names.upstream}
  plugins:
    score:
      disabled: [{name: "*"}]
      enabled:
      - {name: NodeResourcesBalancedAllocation, weight: 1}
      - {name: ImageLocality, weight: 1}
      - {name: InterPodAffinity, weight: 2}
      - {name: NodeResourcesLeastAllocated, weight: 1}
      - {name: NodeAffinity, weight: 2}
      - {name: PodTopologySpread, weight: 2}
      - {name: TaintToleration, weight: 3}
`;

const random = new Random(seed);
const chance = (share: number) => random.below(1000) < share * 1000;
const pick = <T>(values: readonly T[]): T => values[random.below(values.length)] as T;
const zone = 'topology.kubernetes.io/zone';
const hostname = 'kubernetes.io/hostname';

function drawNode(i: number): object {
  const name = `node-${i}`;
  const labels = {
    [hostname]: name,
    ...(chance(0.9) ? { [zone]: pick(['z1', 'z2', 'z3']) } : {}),
    ...(chance(0.6) ? { disk: pick(['ssd', 'hdd']) } : {}),
    ...(chance(0.4) ? { size: String(random.below(20)) } : {}),
  };
  const taints = chance(0.3)
    ? [
        {
          key: pick(['k', 'l']),
          value: pick(['1', '2']),
          effect: pick(['NoSchedule', 'NoExecute', 'PreferNoSchedule', 'PreferNoSchedule']),
        },
      ]
    : null;
  const allocatable = {
    cpu: pick(['2', '4', '8']),
    memory: pick(['4Gi', '8Gi', '16Gi']),
    pods: pick(['2', '10', '110']),
  };
  const images = chance(0.5) ? [{ names: ['app:1'], sizeBytes: random.below(2_000_000_000) }] : [];
  return { metadata: { name, labels }, spec: { taints, unschedulable: chance(0.08) }, status: { allocatable, images } };
}

const selector = () => ({ matchLabels: { app: pick(['web', 'db']) } });
const term = () => ({ topologyKey: pick([zone, hostname]), labelSelector: selector() });
const weighted = () => ({ weight: 1 + random.below(100), podAffinityTerm: term() });

/** @param isSmall for existing pods: 1.20 treats nodes differently that have less than their pods request */
function drawPod(isSmall = false): { labels: object; spec: Record<string, unknown> } {
  const requests = {
    ...(chance(0.8) ? { cpu: pick(isSmall ? ['10m', '100m', '300m'] : ['100m', '500m', '1', '2', '3']) } : {}),
    ...(chance(0.8) ? { memory: pick(isSmall ? ['10Mi', '300Mi', '500Mi'] : ['100Mi', '1Gi', '3Gi']) } : {}),
  };
  const ports = chance(0.15) ? [{ containerPort: 1, hostPort: pick([80, 81]) }] : [];
  const containers = [{ name: 'c', image: pick(['app:1', 'other']), resources: { requests }, ports }];
  const initContainers =
    !isSmall && chance(0.15) ? [{ name: 'i', image: 'i', resources: { requests: { cpu: pick(['1', '4']) } } }] : [];
  const maybe = <T>(share: number, make: () => T): T[] => (chance(share) ? [make()] : []);
  const requirement = () =>
    pick([
      { key: 'disk', operator: 'In', values: ['ssd'] },
      { key: 'disk', operator: 'NotIn', values: ['ssd'] },
      { key: zone, operator: 'In', values: ['z1', 'z2'] },
      { key: 'size', operator: 'Gt', values: ['9'] },
      { key: 'size', operator: 'Lt', values: ['9'] },
      { key: 'disk', operator: 'Exists' },
      { key: 'disk', operator: 'DoesNotExist' },
    ]);
  const preferred = () => ({ weight: 1 + random.below(100), preference: { matchExpressions: [requirement()] } });
  const required = chance(0.25)
    ? {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            { matchExpressions: [requirement()] },
            ...maybe(0.3, () => ({ matchExpressions: [requirement()] })),
          ],
        },
      }
    : {};
  return {
    labels: { app: pick(['web', 'db']) },
    spec: {
      containers,
      initContainers,
      tolerations: maybe(0.4, () =>
        pick<object>([{ operator: 'Exists' }, { key: 'k', operator: 'Exists' }, { key: 'l', value: '1' }]),
      ),
      ...(chance(0.15) ? { nodeSelector: { disk: 'ssd' } } : {}),
      affinity: {
        nodeAffinity: { ...required, preferredDuringSchedulingIgnoredDuringExecution: maybe(0.4, preferred) },
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: maybe(0.15, term),
          preferredDuringSchedulingIgnoredDuringExecution: maybe(0.25, weighted),
        },
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: maybe(0.15, term),
          preferredDuringSchedulingIgnoredDuringExecution: maybe(0.25, weighted),
        },
      },
      topologySpreadConstraints: maybe(0.35, () => ({
        maxSkew: 1 + random.below(2),
        topologyKey: pick([zone, hostname]),
        whenUnsatisfiable: pick(['DoNotSchedule', 'ScheduleAnyway']),
        labelSelector: selector(),
      })),
    },
  };
}

/** Messages that the two word differently. */
function inWordsOf120(message: string): string {
  return message
    .replace(/ preemption: .*$/s, '')
    .replaceAll(/node\(s\) had untolerated taint (\{[^}]*\})/g, "node(s) had taint $1, that the pod didn't tolerate")
    .replaceAll('node affinity/selector', 'node affinity');
}

/** 1.20 gives two reasons for each node that other pods exclude. */
function withoutGeneral(message: string): string {
  return message
    .replaceAll(/\d+ node\(s\) didn't match pod affinity\/anti-affinity, /g, '')
    .replaceAll(/, \d+ node\(s\) didn't match pod affinity\/anti-affinity/g, '');
}

const sortedReasons = (message: string) => {
  const [head = '', reasons = ''] =
    message.replace(/\.$/, '').split(': ', 2).length === 2
      ? [message.slice(0, message.indexOf(': ')), message.slice(message.indexOf(': ') + 2).replace(/\.$/, '')]
      : [message];
  return `${head}: ${reasons
    .split(/, (?=\d+ )/)
    .sort()
    .join(', ')}`;
};

class Comparison {
  private upstream: ChildProcess | undefined;
  private serial = 0;
  same = 0;
  sameRefusals = 0;
  readonly different: string[] = [];

  constructor(private readonly cluster: TestCluster) {}

  async start(): Promise<void> {
    const file = join(this.cluster.directory, 'upstream.yaml');
    writeFileSync(file, configuration(this.cluster.first.kubeconfig, [await freePort(), await freePort()]));
    this.upstream = spawn(binary, [`--config=${file}`, '--secure-port=0'], { stdio: 'ignore' });
  }

  stop(): void {
    this.upstream?.kill();
  }

  private get client() {
    return this.cluster.first.client;
  }

  /** Replaces the existing nodes and pods. */
  async furnish(): Promise<void> {
    for (const path of [podsPath, '/api/v1/nodes']) {
      await this.client.delete(`${path}?gracePeriodSeconds=0`);
      await eventually(
        async () => ((await this.client.get(path)).body as unknown as { items: unknown[] }).items.length === 0,
        'an empty cluster',
      );
    }
    const count = 2 + random.below(7);
    for (let i = 0; i < count; i++) {
      const node = drawNode(i) as { metadata: { name: string }; spec: object };
      await this.expect(this.client.post('/api/v1/nodes', node), 201);
      const path = `/api/v1/nodes/${node.metadata.name}`;
      await this.expect(this.client.patch(path, 'merge', { spec: node.spec }), 200);
    }
    for (let i = 0; i < count * 2; i++) {
      const { labels, spec } = drawPod(true);
      const nodeName = `node-${random.below(count)}`;
      await this.expect(
        this.client.post(podsPath, { metadata: { name: `there-${i}`, labels }, spec: { ...spec, nodeName } }),
        201,
      );
    }
  }

  async compare(): Promise<void> {
    const { labels, spec } = drawPod();
    // Each is tried twice: among equal nodes, both choose at random.
    const outcomes = { ours: new Set<string>(), upstream: new Set<string>() };
    const asks = ['upstream', 'ours', 'upstream', 'ours', 'upstream', 'ours'] as const;
    for (const who of asks) {
      const outcome = await this.outcome(names[who], labels, spec);
      outcomes[who].add(outcome);
      if (outcomes.ours.size > 0 && outcomes.upstream.size > 0 && outcome.startsWith('0/')) break;
      if ([...outcomes.ours].some((one) => outcomes.upstream.has(one))) break;
    }
    const isSame = [...outcomes.ours].some((one) => outcomes.upstream.has(one));
    if (isSame) {
      this.same += 1;
      if ([...outcomes.ours][0]?.startsWith('0/') === true) this.sameRefusals += 1;
      return;
    }
    const { items } = (await this.client.get('/api/v1/nodes')).body as unknown as {
      items: { metadata: object; spec: object; status: object }[];
    };
    const nodes = items.map(({ metadata, spec: nodeSpec, status }) =>
      JSON.stringify([
        (metadata as { labels: object }).labels,
        nodeSpec,
        (status as { allocatable: object; images?: object }).allocatable,
        (status as { images?: object }).images,
      ]),
    );
    const there = (
      (await this.client.get(podsPath)).body as unknown as {
        items: {
          metadata: { labels: object };
          spec: { nodeName?: string; affinity?: object; containers: { resources: object; ports?: object }[] };
        }[];
      }
    ).items;
    this.different.push(
      [
        `ours:     ${[...outcomes.ours].join(' | ')}`,
        `upstream: ${[...outcomes.upstream].join(' | ')}`,
        `pod: ${JSON.stringify({ labels, spec })}`,
        ...nodes.map((node) => `node: ${node}`),
        ...there.map(
          ({ metadata, spec: s }) =>
            `there: ${s.nodeName} ${JSON.stringify([metadata.labels, s.affinity, s.containers.map(({ resources, ports }) => [resources, ports])])}`,
        ),
      ].join('\n  '),
    );
  }

  private async outcome(schedulerName: string, labels: object, spec: object): Promise<string> {
    const path = `${podsPath}/tried-${this.serial++}`;
    const name = path.slice(podsPath.length + 1);
    await this.expect(
      this.client.post(podsPath, { metadata: { name, labels }, spec: { ...spec, schedulerName } }),
      201,
    );
    const outcome = await eventually(async () => {
      const { body } = await this.client.get(path);
      const { nodeName } = body.spec as { nodeName?: string };
      if (nodeName !== undefined) return nodeName;
      const conditions = (body.status.conditions ?? []) as { reason?: string; message?: string }[];
      return conditions.find(({ reason }) => reason === 'Unschedulable')?.message;
    }, `an outcome of ${schedulerName}`);
    await this.client.delete(`${path}?gracePeriodSeconds=0`);
    return outcome.startsWith('0/') ? sortedReasons(withoutGeneral(inWordsOf120(outcome))) : outcome;
  }

  private async expect(answer: Promise<{ status: number; text: string }>, status: number): Promise<void> {
    const { status: got, text } = await answer;
    if (got !== status) throw new Error(`${got}: ${text}`);
  }
}

if (binary === '') throw new Error('PLINTH_UPSTREAM_SCHEDULER must name the program to compare with');
const cluster = await TestCluster.start({
  servers: 1,
  controllers: true,
  accounts: false,
  flags: ['--compat=kubernetes'],
  controllerFlags: ['--compat=kubernetes', '--controllers=-*,scheduler'],
});
const comparison = new Comparison(cluster);
try {
  await comparison.start();
  for (let i = 0; i < cases; i++) {
    if (i % perCluster === 0) await comparison.furnish();
    await comparison.compare();
  }
} finally {
  comparison.stop();
  await cluster.stop();
}
for (const text of comparison.different) print(`different\n  ${text}`);
print(`${comparison.same} of ${cases} the same, ${comparison.sameRefusals} of them refusals; seed ${seed}`);
process.exitCode = comparison.different.some((text) => text.includes('nodes are available')) ? 1 : 0;
