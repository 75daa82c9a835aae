import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, TestCluster } from '../e2e/support/test-cluster.js';
import { Random } from '../support/random.js';
import { drawNode } from './draw-node.js';
import { drawPod } from './draw-pod.js';
import { Draws } from './draws.js';
import { claimNames, furniture } from './furniture.js';

/**
 * Lets upstream's scheduler and ours place the same pods in the same clusters, drawn at random, and compares the
 * placements and messages: `PLINTH_UPSTREAM_SCHEDULER=<kube-scheduler 1.37> npm run check:scheduler -- <cases> <seed>`.
 * Fails when only one of them refuses a pod, or the messages differ. Among equally good nodes both choose at random.
 */
const binary = process.env.PLINTH_UPSTREAM_SCHEDULER ?? '';
const cases = Number(process.argv[2] ?? 100);
const seed = Number(process.argv[3] ?? 1);
const perCluster = 20;
const podsPath = '/api/v1/namespaces/default/pods';
const names = { ours: 'default-scheduler', upstream: 'upstream' } as const;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

const configuration = (kubeconfig: string) => `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: "${kubeconfig}", qps: 1000, burst: 1000}
leaderElection: {leaderElect: false}
podInitialBackoffSeconds: 1
profiles:
- schedulerName: ${names.upstream}
`;

const draws = new Draws(new Random(seed));

const isRefusal = (outcome: string) => outcome.includes(': ');

class Comparison {
  private upstream: ChildProcess | undefined;
  private serial = 0;
  same = 0;
  sameRefusals = 0;
  readonly different: string[] = [];

  constructor(private readonly cluster: TestCluster) {}

  async start(): Promise<void> {
    const file = join(this.cluster.directory, 'upstream.yaml');
    writeFileSync(file, configuration(this.cluster.first.kubeconfig));
    this.upstream = spawn(binary, [`--config=${file}`, '--secure-port=0'], { stdio: 'ignore' });
  }

  stop(): void {
    this.upstream?.kill();
  }

  private get client() {
    return this.cluster.first.client;
  }

  /** Creates what pods of all clusters use. */
  async prepare(): Promise<void> {
    for (const { path, body, status } of furniture) {
      await this.expect(this.client.post(path, body), 201);
      const { name } = (body as { metadata: { name: string } }).metadata;
      if (status !== undefined)
        await this.expect(this.client.patch(`${path}/${name}/status`, 'merge', { status }), 200);
    }
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
    const count = 2 + draws.random.below(7);
    for (let i = 0; i < count; i++) {
      const node = drawNode(draws, i);
      await this.expect(this.client.post('/api/v1/nodes', node), 201);
      const path = `/api/v1/nodes/${node.metadata.name}`;
      await this.expect(this.client.patch(path, 'merge', { spec: node.spec }), 200);
      await this.expect(this.client.patch(`${path}/status`, 'merge', { status: node.status }), 200);
    }
    for (let i = 0; i < count * 2; i++) {
      const { labels, spec } = drawPod(draws, true, claimNames);
      const nodeName = `node-${draws.random.below(count)}`;
      await this.expect(
        this.client.post(podsPath, { metadata: { name: `there-${i}`, labels }, spec: { ...spec, nodeName } }),
        201,
      );
    }
  }

  async compare(): Promise<void> {
    const { labels, spec } = drawPod(draws, false, claimNames);
    // Each is tried twice: among equal nodes, both choose at random.
    const outcomes = { ours: new Set<string>(), upstream: new Set<string>() };
    const asks = ['upstream', 'ours', 'upstream', 'ours', 'upstream', 'ours'] as const;
    for (const who of asks) {
      const outcome = await this.outcome(names[who], labels, spec);
      outcomes[who].add(outcome);
      if (outcomes.ours.size > 0 && outcomes.upstream.size > 0 && isRefusal(outcome)) break;
      if ([...outcomes.ours].some((one) => outcomes.upstream.has(one))) break;
    }
    const isSame = [...outcomes.ours].some((one) => outcomes.upstream.has(one));
    if (isSame) {
      this.same += 1;
      if (isRefusal([...outcomes.ours][0] ?? '')) this.sameRefusals += 1;
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
      const conditions = (body.status.conditions ?? []) as { type: string; reason?: string; message?: string }[];
      const refusal = conditions.find(({ type }) => type === 'PodScheduled');
      return refusal === undefined ? undefined : `${refusal.reason}: ${refusal.message}`;
    }, `an outcome of ${schedulerName}`);
    await this.client.delete(`${path}?gracePeriodSeconds=0`);
    return outcome;
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
  await comparison.prepare();
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
process.exitCode = comparison.different.some(isRefusal) ? 1 : 0;
