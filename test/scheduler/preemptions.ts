import { setTimeout as delay } from 'node:timers/promises';
import { type DrawnNode, hostname, zone } from './draw-node.js';
import type { DrawnPod } from './draw-pod.js';
import type { Draws } from './draws.js';
import { type PodThere, podsPath, type SchedulerScene } from './scene.js';

const priorities = [10, 50, 60, 100] as const;
const budgetsPath = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';

/** Tries important pods in full clusters of less important ones, and says where and for whom they make room. */
export class Preemptions {
  private there: readonly PodThere[] = [];

  constructor(
    private readonly scene: SchedulerScene,
    private readonly draws: Draws,
  ) {}

  async prepare(): Promise<void> {
    for (const value of priorities) {
      await this.scene.create('/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: { name: `p${value}` }, value });
    }
  }

  /** Replaces the existing nodes, pods and budgets. */
  async furnish(): Promise<void> {
    const { draws, scene } = this;
    await scene.removeAll(podsPath);
    await scene.removeAll(budgetsPath);
    const nodes = Array.from({ length: 1 + draws.random.below(4) }, (_, i) => this.drawNode(i));
    await scene.replaceNodes(nodes);
    for (const app of ['web', 'db']) {
      if (draws.chance(0.5)) continue;
      const body = { metadata: { name: app }, spec: { minAvailable: 1, selector: { matchLabels: { app } } } };
      const counts = { currentHealthy: 1, desiredHealthy: 1, expectedPods: 1, observedGeneration: 1 };
      await scene.create(budgetsPath, body, { ...counts, disruptionsAllowed: draws.random.below(2) });
    }
    this.there = nodes.flatMap(({ metadata }, i) =>
      Array.from({ length: 1 + draws.random.below(4) }, (_, j) => this.drawThere(`there-${i}-${j}`, metadata.name)),
    );
    await scene.replacePods(this.there);
  }

  private drawNode(i: number): DrawnNode {
    const name = `node-${i}`;
    return {
      metadata: { name, labels: { [hostname]: name, [zone]: this.draws.pick(['z1', 'z2']) } },
      spec: { taints: null },
      status: { allocatable: { cpu: '4', memory: '8Gi', pods: this.draws.pick(['3', '10']) } },
    };
  }

  private drawThere(name: string, nodeName: string): PodThere {
    const { draws } = this;
    const startTime = `2026-01-0${1 + draws.random.below(9)}T00:00:0${draws.random.below(10)}Z`;
    const { labels, spec } = this.drawPod(['500m', '1', '2'], [10, 50]);
    return { name, startTime, labels, spec: { ...spec, nodeName } };
  }

  drawTried(): DrawnPod {
    return this.drawPod(['2', '3', '4'], [50, 60, 100, 100]);
  }

  private drawPod(cpus: readonly string[], values: readonly number[]): DrawnPod {
    const { draws } = this;
    const ports = draws.maybe(0.2, () => ({ containerPort: 80, hostPort: 80 }));
    const away = () => ({ topologyKey: draws.pick([hostname, zone]), labelSelector: { matchLabels: { app: 'db' } } });
    return {
      labels: { app: draws.pick(['web', 'db', 'other']) },
      spec: {
        priorityClassName: `p${draws.pick(values)}`,
        containers: [{ name: 'c', image: 'i', ports, resources: { requests: { cpu: draws.pick(cpus) } } }],
        affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: draws.maybe(0.2, away) } },
      },
    };
  }

  readonly outcome = async (schedulerName: string, pod: DrawnPod): Promise<string> => {
    const { scene } = this;
    const { name, outcome } = await scene.tried(schedulerName, pod);
    const { nominatedNodeName } = (await scene.client.get(`${podsPath}/${name}`)).body.status as Record<
      string,
      unknown
    >;
    const result =
      nominatedNodeName === undefined
        ? outcome
        : `${nominatedNodeName} without ${(await this.victims()).join(' and ')}; ${outcome}`.replaceAll(
            schedulerName,
            'the scheduler',
          );
    if (nominatedNodeName === undefined) await scene.client.delete(`${podsPath}/${name}?gracePeriodSeconds=0`);
    else await scene.replacePods(this.there);
    return result;
  };

  /** The pods that have to go, once no more are told so for a second. */
  private async victims(): Promise<readonly string[]> {
    let before: readonly string[] = [];
    for (;;) {
      const pods = (await this.scene.items(podsPath)) as unknown as Victim[];
      const victims = pods
        .filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
        .map(describe)
        .sort();
      if (victims.length > 0 && victims.length === before.length) return victims;
      before = victims;
      await delay(1_000);
    }
  }
}

interface Victim {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
  readonly status: { readonly conditions?: readonly Readonly<Record<string, string>>[] };
}

function describe({ metadata, status }: Victim): string {
  const { reason, message } = status.conditions?.find(({ type }) => type === 'DisruptionTarget') ?? {};
  return `${metadata.name} (${reason}, ${message})`;
}
