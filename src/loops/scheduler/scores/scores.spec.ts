import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type LabelSelector, labelSelectorFromObject } from '../../../base/machinery/label-selector.js';
import type { Score } from '../score.js';
import { type SampleNode, type SamplePod, sampleCluster, samplePod } from '../testing/sample-cluster.js';
import { scores } from './index.js';

type Case = readonly [
  what: string,
  pod: SamplePod,
  nodes: Readonly<Record<string, SampleNode>>,
  wanted: readonly number[] | undefined,
];

const zone = 'topology.kubernetes.io/zone';
const host = 'kubernetes.io/hostname';

function check(name: string, cases: readonly Case[]): void {
  const score = scores.find((one) => one.name === name) as Score;
  describe(name, () => {
    for (const [what, pod, nodes, wanted] of cases) {
      it(what, () => {
        const cluster = sampleCluster(nodes);
        const named = Object.keys(nodes).map(
          (one) => cluster.node(one) as NonNullable<ReturnType<typeof cluster.node>>,
        );
        assert.deepEqual(score.of(samplePod(pod), named, cluster), wanted);
      });
    }
  });
}

const taking = (cpu: string, memory: string) => ({ pods: [samplePod({ requests: { cpu, memory } })] });
const asking = (cpu: string, memory: string) => ({ requests: { cpu, memory } });

it('the weights are those of the field', () => {
  assert.deepEqual(Object.fromEntries(scores.map(({ name, weight }) => [name, weight])), {
    TaintToleration: 3,
    NodeAffinity: 2,
    PodTopologySpread: 2,
    InterPodAffinity: 2,
    NodeResourcesFit: 1,
    NodeResourcesBalancedAllocation: 1,
    ImageLocality: 1,
    DynamicResources: 2,
  });
});

check('NodeResourcesFit', [
  [
    'the mean of what is left',
    asking('1', '2Gi'),
    { empty: {}, half: taking('2', '4Gi'), full: taking('3', '6Gi') },
    [75, 25, 0],
  ],
  ['pods without requests count a little', {}, { empty: {} }, [97]],
  ['pods without requests on the node count too', {}, { a: { pods: [samplePod(), samplePod()] } }, [92]],
  ['a node without a resource', asking('1', '2Gi'), { a: { allocatable: { memory: '0' } } }, [75]],
]);

check('NodeResourcesBalancedAllocation', [
  ['equal shares are best', asking('2', '4Gi'), { even: {}, uneven: taking('2', '0') }, [100, 75]],
  ['all of one and nothing of the other', asking('4', '0'), { a: {} }, [50]],
  ['a pod without requests has no wish', {}, { a: {} }, undefined],
]);

const preferring = (...terms: readonly (readonly [number, string])[]) => ({
  affinity: {
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: terms.map(([weight, value]) => ({
        weight,
        preference: { matchExpressions: [{ key: 'disk', operator: 'In', values: [value] }] },
      })),
    },
  },
});
const disk = (value: string) => ({ labels: { disk: value } });

check('NodeAffinity', [
  ['nothing wanted', {}, { a: {} }, undefined],
  [
    'relative to the best',
    preferring([80, 'ssd'], [20, 'hdd']),
    { a: disk('ssd'), b: disk('hdd'), c: {} },
    [100, 25, 0],
  ],
  ['terms add up', preferring([10, 'ssd'], [10, 'ssd'], [5, 'hdd']), { a: disk('ssd'), b: disk('hdd') }, [100, 25]],
  ['no node has it', preferring([10, 'nvme']), { a: disk('ssd') }, [0]],
]);

const preferNot = (...keys: string[]) => ({ taints: keys.map((key) => ({ key, effect: 'PreferNoSchedule' })) });

check('TaintToleration', [
  ['no such taints', {}, { a: {}, b: { taints: [{ key: 'k', effect: 'NoSchedule' }] } }, undefined],
  ['the fewer the better', {}, { a: preferNot('k', 'l'), b: preferNot('k'), c: {} }, [0, 50, 100]],
  [
    'tolerated ones do not count',
    { tolerations: [{ key: 'k', operator: 'Exists' }] },
    { a: preferNot('k'), b: preferNot('l') },
    [100, 0],
  ],
]);

const image = (name: string, mebibytes: number) => ({
  images: [{ names: [name], sizeBytes: mebibytes * 1024 * 1024 }],
});

check('ImageLocality', [
  ['nowhere', {}, { a: {} }, undefined],
  ['size counts, and on how many nodes it is', {}, { a: image('app:1', 1000), b: {} }, [48, 0]],
  ['on all nodes', {}, { a: image('app:1', 1000), b: image('app:1', 1000) }, [100, 100]],
  ['small ones do not count', {}, { a: image('app:1', 20) }, [0]],
  [
    'without a tag it is the latest',
    { containers: [{ name: 'c', image: 'r:5000/app' }] },
    { a: image('r:5000/app:latest', 1000) },
    [100],
  ],
]);

const term = (matchLabels: object, topologyKey: string) => ({ topologyKey, labelSelector: { matchLabels } });
const weighted = (weight: number, matchLabels: object, topologyKey = host) => ({
  preferredDuringSchedulingIgnoredDuringExecution: [{ weight, podAffinityTerm: term(matchLabels, topologyKey) }],
});
const web = { labels: { app: 'web' } };
const having = (...pods: SamplePod[]): SampleNode => ({ pods: pods.map(samplePod) });
const inZone = (name: string, ...pods: SamplePod[]): SampleNode => ({ ...having(...pods), labels: { [zone]: name } });

check('InterPodAffinity', [
  ['nothing wanted', web, { a: having(web) }, undefined],
  [
    'near',
    { affinity: { podAffinity: weighted(10, { app: 'web' }) } },
    { a: having(web, web), b: having(web), c: {} },
    [100, 50, 0],
  ],
  [
    'far',
    { affinity: { podAntiAffinity: weighted(10, { app: 'web' }) } },
    { a: having(web, web), b: having(web), c: {} },
    [0, 50, 100],
  ],
  [
    'in the same zone',
    { affinity: { podAffinity: weighted(10, { app: 'web' }, zone) } },
    { a: inZone('1', web), b: inZone('1'), c: inZone('2') },
    [100, 100, 0],
  ],
  [
    'what others want of the pod',
    web,
    {
      a: having({ affinity: { podAffinity: weighted(5, { app: 'web' }) } }),
      b: having({ affinity: { podAntiAffinity: weighted(5, { app: 'web' }) } }),
      c: {},
    },
    [100, 0, 50],
  ],
  [
    'what others demand counts a little',
    web,
    {
      a: having({
        affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term({ app: 'web' }, host)] } },
      }),
      b: {},
    },
    [100, 0],
  ],
]);

const soft = (topologyKey: string, maxSkew = 1, rest: object = {}) => ({
  ...web,
  topologySpreadConstraints: [
    {
      maxSkew,
      topologyKey,
      whenUnsatisfiable: 'ScheduleAnyway',
      labelSelector: { matchLabels: { app: 'web' } },
      ...rest,
    },
  ],
});

check('PodTopologySpread', [
  ['nothing wanted', web, { a: having(web) }, undefined],
  ['fewer on the node is better', soft(host), { a: having(web, web), b: having(web), c: {} }, [0, 33, 100]],
  [
    'fewer in the zone is better',
    soft(zone),
    { a: inZone('1', web), b: inZone('1', web), c: inZone('2') },
    [0, 0, 100],
  ],
  ['nodes without the key are worst', soft(zone), { a: inZone('1', web), b: {} }, [100, 0]],
  ['all alike', soft(host), { a: {}, b: {} }, [100, 100]],
]);

it('spreads a group without constraints of its own over nodes and zones', () => {
  const selector: LabelSelector = labelSelectorFromObject({ matchLabels: web.labels });
  const cluster = sampleCluster(
    { a: inZone('1', web), b: inZone('1'), c: inZone('2') },
    { groupOf: () => ({ selector, text: 'web' }) },
  );
  const score = scores.find(({ name }) => name === 'PodTopologySpread') as Score;
  const [a = 0, b = 0, c = 0] = score.of(samplePod(web), cluster.nodes, cluster) ?? [];
  const byName = new Map(cluster.nodes.map(({ name }, i) => [name, [a, b, c][i] as number]));
  const of = (name: string) => byName.get(name) as number;
  assert.ok(of('a') < of('b') && of('b') < of('c'), JSON.stringify([...byName]));
});
