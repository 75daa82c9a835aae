import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiObject } from '../../base/machinery/api-object.js';
import type { PodDisruptionBudget } from '../../objects/apis/policy/v1/pod-disruption-budget.types.js';
import type { Cluster } from './cluster.js';
import { findNode, type NoNode } from './find-node.js';
import { selectVictims } from './preemption.js';
import { placement, type SampleNode, type SamplePod, sampleCluster, samplePod } from './testing/sample-cluster.js';

type Budget = PodDisruptionBudget & ApiObject;

const low = (name: string, priority: number, cpu = '2', rest: SamplePod = {}) =>
  samplePod({ name, priority, requests: { cpu }, ...rest });

function budget(app: string, disruptionsAllowed: number, status: object = {}): Budget {
  const selector = { matchLabels: { app } };
  return {
    metadata: { name: app, namespace: 'ns' },
    spec: { selector },
    status: { disruptionsAllowed, ...status },
  } as unknown as Budget;
}

/** `<node>: <victims>`, or the message. */
function outcome(pod: SamplePod, cluster: Cluster, budgets: readonly Budget[] = []): string {
  const info = samplePod({ priority: 10, requests: { cpu: '4' }, ...pod });
  const refused = findNode(info, cluster, { random: () => 0 });
  assert.equal(refused.kind, 'none');
  const preemption = selectVictims(info, cluster, refused as NoNode, { budgets: () => budgets, random: () => 0 });
  return preemption.kind === 'none'
    ? preemption.message
    : `${preemption.node}: ${preemption.victims.map(({ name }) => name).join()}`;
}

describe('selectVictims', () => {
  const nodes = (...pods: (readonly ReturnType<typeof low>[])[]): Record<string, SampleNode> =>
    Object.fromEntries(pods.map((on, i) => [`n${i}`, { pods: on }]));
  const guarded = { labels: { app: 'guarded' } };
  const started = (startTime: string): SamplePod => ({ status: { phase: 'Running', startTime } });

  type Case = readonly [string, SamplePod, Record<string, SampleNode>, string, (readonly Budget[])?];
  const cases: readonly Case[] = [
    [
      'takes only what is needed, the least important first',
      { requests: { cpu: '2' } },
      nodes([low('a', 1), low('b', 2)]),
      'n0: a',
    ],
    ['takes several', {}, nodes([low('a', 1), low('b', 2)]), 'n0: b,a'],
    [
      'leaves what is as important',
      {},
      nodes([low('a', 10), low('b', 2)]),
      '0/1 nodes are available: 1 Insufficient cpu.',
    ],
    [
      'says that nobody is less important',
      {},
      nodes([low('a', 10)], [low('b', 11)]),
      '0/2 nodes are available: 2 No preemption victims found for incoming pod.',
    ],
    [
      'does not look at nodes that can never do',
      { requests: { cpu: '5' } },
      nodes([low('a', 1)]),
      '0/1 nodes are available: 1 Preemption is not helpful for scheduling.',
    ],
    [
      'chooses the node with the least important victims',
      {},
      nodes([low('a', 3, '4')], [low('b', 2, '4')], [low('c', 4, '4')]),
      'n1: b',
    ],
    ['then the smallest sum', {}, nodes([low('a', 3), low('b', 3)], [low('c', 3), low('d', 1)]), 'n1: c,d'],
    ['then the fewest', {}, nodes([low('a', 3), low('b', 3)], [low('c', 3, '4')]), 'n1: c'],
    [
      'then those that run for the shortest time',
      {},
      nodes([low('a', 3, '4', started('2026-01-01T00:00:00Z'))], [low('b', 3, '4', started('2026-01-02T00:00:00Z'))]),
      'n1: b',
    ],
    [
      'on one node, leaves what runs for longer',
      { requests: { cpu: '2' } },
      nodes([low('new', 3, '2', started('2026-01-02T00:00:00Z')), low('old', 3, '2', started('2026-01-01T00:00:00Z'))]),
      'n0: new',
    ],
    [
      'keeps to budgets where it can',
      {},
      nodes([low('a', 1, '4', guarded)], [low('b', 5, '4')]),
      'n1: b',
      [budget('guarded', 0)],
    ],
    ['violates a budget when it must', {}, nodes([low('a', 1, '4', guarded)]), 'n0: a', [budget('guarded', 0)]],
    [
      'uses what a budget allows',
      {},
      nodes([low('a', 1, '4', guarded)], [low('b', 5, '4')]),
      'n0: a',
      [budget('guarded', 1)],
    ],
    [
      'counts victims of one budget together',
      {},
      nodes([low('a', 1, '2', guarded), low('b', 1, '2', guarded)], [low('c', 5, '4')]),
      'n1: c',
      [budget('guarded', 1)],
    ],
    [
      'does not count again what is counted',
      {},
      nodes([low('a', 1, '4', guarded)], [low('b', 5, '4')]),
      'n0: a',
      [budget('guarded', 0, { disruptedPods: { a: 't' } })],
    ],
    [
      'spares those that a budget protects on the node itself',
      { requests: { cpu: '2' } },
      nodes([low('a', 1, '2', guarded), low('b', 5)]),
      'n0: b',
      [budget('guarded', 0)],
    ],
    ['never', { preemptionPolicy: 'Never' }, nodes([low('a', 1)]), 'not eligible due to preemptionPolicy=Never.'],
  ];
  for (const [what, pod, given, wanted, budgets] of cases) {
    it(what, () => assert.equal(outcome(pod, sampleCluster(given), budgets), wanted));
  }

  const host = 'kubernetes.io/hostname';
  const alone = {
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey: host, labelSelector: { matchLabels: { app: 'x' } } },
        ],
      },
    },
  };

  it('ends pods that are in the way for other reasons than room', () => {
    const cluster = sampleCluster(nodes([low('a', 1, '1', { labels: { app: 'x' } }), low('b', 1, '1')]));
    assert.equal(outcome({ ...alone, requests: { cpu: '1' } }, cluster), 'n0: a');
  });

  it('frees ports', () => {
    const containers = [{ name: 'c', ports: [{ containerPort: 1, hostPort: 80 }] }];
    const cluster = sampleCluster(nodes([low('a', 1, '1', { containers }), low('b', 1, '1')]));
    assert.equal(outcome({ containers }, cluster), 'n0: a');
  });

  it('changes nothing', () => {
    const cluster = sampleCluster(nodes([low('a', 1, '1', { labels: { app: 'x' } })], [low('b', 1)]));
    outcome({ ...alone, requests: { cpu: '4' } }, cluster);
    assert.equal(cluster.node('n0')?.pods.size, 1);
    assert.equal(cluster.node('n0')?.requested.milliCpu, 1000);
    assert.equal(placement(samplePod({ ...alone, requests: { cpu: '2' } }), cluster), 'n1');
  });

  it('waits for victims that are about to end', () => {
    const cluster = sampleCluster(nodes([low('a', 1, '4', { metadata: { deletionTimestamp: 't' } })]));
    const info = samplePod({ priority: 10, requests: { cpu: '4' } });
    cluster.nominate(info, 'n0');
    const refused = findNode(info, cluster, { random: () => 0 }) as NoNode;
    const preemption = selectVictims(info, cluster, refused, { budgets: () => [], random: () => 0 });
    const message = 'not eligible due to a terminating pod on the nominated node.';
    assert.deepEqual(preemption, { kind: 'none', message, isWaiting: true });
  });

  it('keeps room that is made for more important pods from others', () => {
    const cluster = sampleCluster({ n0: {} });
    cluster.nominate(samplePod({ name: 'first', priority: 10, requests: { cpu: '3' } }), 'n0');
    const small = { requests: { cpu: '2' } };
    assert.equal(
      placement(samplePod({ ...small, priority: 5 }), cluster),
      '0/1 nodes are available: 1 Insufficient cpu.',
    );
    assert.equal(placement(samplePod({ ...small, priority: 11 }), cluster), 'n0');
    assert.equal(placement(samplePod({ name: 'first', priority: 10, requests: { cpu: '3' } }), cluster), 'n0');
  });
});
