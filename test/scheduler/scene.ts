import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, type TestCluster } from '../e2e/support/test-cluster.js';
import type { DrawnNode } from './draw-node.js';
import type { DrawnPod } from './draw-pod.js';
import { furniture } from './furniture.js';

export const schedulers = { ours: 'default-scheduler', upstream: 'upstream' } as const;
export const podsPath = '/api/v1/namespaces/default/pods';
const nodesPath = '/api/v1/nodes';

const configuration = (kubeconfig: string) => `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: "${kubeconfig}", qps: 1000, burst: 1000}
leaderElection: {leaderElect: false}
podInitialBackoffSeconds: 1
profiles:
- schedulerName: ${schedulers.upstream}
`;

/** A pod that is there before others are tried. */
export interface PodThere extends DrawnPod {
  readonly name: string;
  /** When it began to run; default: unknown. */
  readonly startTime?: string;
}

/** A cluster in which two schedulers are asked in turn where a pod goes. */
export class SchedulerScene {
  private upstream: ChildProcess | undefined;
  private serial = 0;

  constructor(private readonly cluster: TestCluster) {}

  /** @param binary upstream's scheduler */
  start(binary: string): void {
    const file = join(this.cluster.directory, 'upstream.yaml');
    writeFileSync(file, configuration(this.cluster.first.kubeconfig));
    this.upstream = spawn(binary, [`--config=${file}`, '--secure-port=0'], { stdio: 'ignore' });
  }

  stop(): void {
    this.upstream?.kill();
  }

  get client() {
    return this.cluster.first.client;
  }

  /** Creates what pods of all clusters use. */
  async prepare(): Promise<void> {
    for (const { path, body, status } of furniture) await this.create(path, body, status);
  }

  async create(path: string, body: object, status?: object): Promise<void> {
    await expect(this.client.post(path, body), 201);
    if (status === undefined) return;
    const { name } = (body as { metadata: { name: string } }).metadata;
    await expect(this.client.patch(`${path}/${name}/status`, 'merge', { status }), 200);
  }

  async removeAll(path: string): Promise<void> {
    await this.client.delete(`${path}?gracePeriodSeconds=0`);
    await eventually(async () => (await this.items(path)).length === 0, `no more ${path}`);
  }

  async items(path: string): Promise<readonly Record<string, never>[]> {
    return ((await this.client.get(path)).body as unknown as { items: Record<string, never>[] }).items;
  }

  /** Replaces the nodes, of which nothing may run. */
  async replaceNodes(nodes: readonly DrawnNode[]): Promise<void> {
    await this.removeAll(nodesPath);
    for (const node of nodes) {
      await expect(this.client.post(nodesPath, node), 201);
      const path = `${nodesPath}/${node.metadata.name}`;
      await expect(this.client.patch(path, 'merge', { spec: node.spec }), 200);
      await expect(this.client.patch(`${path}/status`, 'merge', { status: node.status }), 200);
    }
  }

  async replacePods(pods: readonly PodThere[]): Promise<void> {
    await this.removeAll(podsPath);
    for (const { name, labels, spec, startTime } of pods) {
      await this.create(
        podsPath,
        { metadata: { name, labels }, spec },
        startTime === undefined ? undefined : { startTime },
      );
    }
  }

  /** Creates a pod and waits for its node, or for the reason why it has none; returns its name and this outcome. */
  async tried(schedulerName: string, { labels, spec }: DrawnPod): Promise<{ name: string; outcome: string }> {
    const name = `tried-${this.serial++}`;
    await expect(this.client.post(podsPath, { metadata: { name, labels }, spec: { ...spec, schedulerName } }), 201);
    const outcome = await eventually(async () => {
      const { body } = await this.client.get(`${podsPath}/${name}`);
      const { nodeName } = body.spec as { nodeName?: string };
      if (nodeName !== undefined) return nodeName;
      const conditions = (body.status.conditions ?? []) as { type: string; reason?: string; message?: string }[];
      const refusal = conditions.find(({ type }) => type === 'PodScheduled');
      return refusal === undefined ? undefined : `${refusal.reason}: ${refusal.message}`;
    }, `an outcome of ${schedulerName}`);
    return { name, outcome };
  }

  /** Nodes and pods as they are, for a report. */
  async description(): Promise<string[]> {
    const nodes = (await this.items(nodesPath)) as unknown as {
      metadata: { labels: object };
      spec: object;
      status: { allocatable: object; images?: object };
    }[];
    const pods = (await this.items(podsPath)) as unknown as {
      metadata: { name: string; labels: object };
      spec: {
        nodeName?: string;
        priority?: number;
        affinity?: object;
        containers: { resources: object; ports?: object }[];
      };
    }[];
    return [
      ...nodes.map(
        ({ metadata, spec, status }) =>
          `node: ${JSON.stringify([metadata.labels, spec, status.allocatable, status.images])}`,
      ),
      ...pods.map(({ metadata, spec }) => {
        const demands = spec.containers.map(({ resources, ports }) => [resources, ports]);
        return `pod: ${metadata.name} ${spec.nodeName} ${JSON.stringify([metadata.labels, spec.priority, spec.affinity, demands])}`;
      }),
    ];
  }
}

async function expect(answer: Promise<{ status: number; text: string }>, status: number): Promise<void> {
  const { status: got, text } = await answer;
  if (got !== status) throw new Error(`${got}: ${text}`);
}
