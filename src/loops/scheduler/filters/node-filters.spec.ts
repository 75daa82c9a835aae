import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SampleNode, SamplePod } from '../testing/sample-cluster.js';
import { placement, sampleCluster, samplePod } from '../testing/sample-cluster.js';

type Case = readonly [what: string, pod: SamplePod, nodes: Readonly<Record<string, SampleNode>>, outcome: string];

const none = (count: number, reasons: string) => `0/${count} nodes are available: ${reasons}.`;
const requests = (cpu: string, memory = '1Gi') => ({ cpu, memory });
const hungry = (cpu: string) => samplePod({ requests: { cpu } });

function check(cases: readonly Case[]): void {
  for (const [what, pod, nodes, outcome] of cases) {
    it(what, () => assert.equal(placement(samplePod(pod), sampleCluster(nodes)), outcome));
  }
}

describe('DynamicResources', () => {
  const resourceClaims = [{ name: 'gpu', resourceClaimName: 'gpu' }];
  check([
    ['a claim to devices', { resourceClaims }, { a: {}, b: {} }, none(2, 'cannot allocate all claims')],
    ['no claim', { resourceClaims: [] }, { a: {} }, 'a'],
  ]);
});

describe('NodeResourcesFit', () => {
  const container = (cpu: string, rest: object = {}) => ({ name: cpu, resources: { requests: { cpu } }, ...rest });
  check([
    ['fits exactly', { requests: requests('4', '8Gi') }, { a: {} }, 'a'],
    ['too little of one resource', { requests: requests('4001m') }, { a: {} }, none(1, '1 Insufficient cpu')],
    [
      'too little of several resources',
      { requests: requests('5', '9Gi') },
      { a: {} },
      none(1, '1 Insufficient cpu, 1 Insufficient memory'),
    ],
    [
      'what other pods take',
      { requests: requests('2') },
      { a: { pods: [hungry('3')] }, b: { pods: [hungry('2')] } },
      'b',
    ],
    ['a pod without requests on a full node', {}, { a: { pods: [hungry('4')] } }, 'a'],
    ['the number of pods', {}, { a: { allocatable: { pods: '1' }, pods: [hungry('1')] } }, none(1, '1 Too many pods')],
    ['a node that takes no pods', {}, { a: { allocatable: { pods: '0' } } }, none(1, '1 Too many pods')],
    [
      'an extended resource',
      { requests: { 'example.com/gpu': '2' } },
      { a: {}, b: { allocatable: { 'example.com/gpu': '1' } }, c: { allocatable: { 'example.com/gpu': '2' } } },
      'c',
    ],
    [
      'an extended resource that is taken',
      { requests: { 'example.com/gpu': '1' } },
      {
        a: {
          allocatable: { 'example.com/gpu': '1' },
          pods: [samplePod({ requests: { 'example.com/gpu': '1' } })],
        },
      },
      none(1, '1 Insufficient example.com/gpu'),
    ],
    [
      'storage of containers',
      { requests: { 'ephemeral-storage': '2Gi' } },
      { a: { allocatable: { 'ephemeral-storage': '1Gi' } } },
      none(1, '1 Insufficient ephemeral-storage'),
    ],
    [
      'the largest init container, when it needs more than the others together',
      { containers: [container('1')], initContainers: [container('5')] },
      { a: {} },
      none(1, '1 Insufficient cpu'),
    ],
    [
      'init containers that end do not add up',
      { containers: [container('3')], initContainers: [container('3'), container('4')] },
      { a: {} },
      'a',
    ],
    [
      'sidecars add up with the containers',
      { containers: [container('3')], initContainers: [container('2', { restartPolicy: 'Always' })] },
      { a: {} },
      none(1, '1 Insufficient cpu'),
    ],
    [
      'sidecars add up with later init containers',
      {
        containers: [container('1')],
        initContainers: [container('2', { restartPolicy: 'Always' }), container('3')],
      },
      { a: {} },
      none(1, '1 Insufficient cpu'),
    ],
    ['overhead', { requests: requests('3'), overhead: { cpu: '1500m' } }, { a: {} }, none(1, '1 Insufficient cpu')],
    [
      'requests of the pod as a whole in place of the sum',
      { requests: requests('1'), resources: { requests: { cpu: '5' } } },
      { a: {} },
      none(1, '1 Insufficient cpu'),
    ],
  ]);
});

describe('filters of the node itself', () => {
  const taints = [{ key: 'own', value: 'mine', effect: 'NoSchedule' }];
  const untolerated = (count: number) => none(count, `${count} node(s) had untolerated taint(s)`);
  const field = (name: string, operator = 'In') => ({
    matchFields: [{ key: 'metadata.name', operator, values: [name] }],
  });
  const required = (...nodeSelectorTerms: object[]) => ({
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
  });
  const expression = (key: string, operator: string, ...values: string[]) =>
    required({ matchExpressions: [{ key, operator, ...(values.length > 0 ? { values } : {}) }] });
  const unselected = (count: number) => none(count, `${count} node(s) didn't match Pod's node affinity/selector`);
  const disks = { a: { labels: { disk: 'hdd', size: '9' } }, b: { labels: { disk: 'ssd', size: '10' } }, c: {} };
  const except = (...names: string[]) => ({
    ...expression('kubernetes.io/hostname', 'NotIn', ...names),
  });
  const port = (hostPort: number, rest: object = {}) => ({
    containers: [{ name: 'c', ports: [{ containerPort: 80, hostPort, ...rest }] }],
  });
  const busy = (hostPort: number, rest: object = {}) => ({ a: { pods: [samplePod(port(hostPort, rest))] } });
  const taken = none(1, "1 node(s) didn't have free ports for the requested pod ports");

  check([
    ['a cordoned node', {}, { a: { unschedulable: true } }, none(1, '1 node(s) were unschedulable')],
    [
      'a cordoned node whose taint is tolerated',
      { tolerations: [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }] },
      { a: { unschedulable: true } },
      'a',
    ],
    ['a taint', {}, { a: { taints } }, untolerated(1)],
    [
      'a taint without a value',
      {},
      { a: { taints: [{ key: 'k', effect: 'NoExecute' }] } },
      none(1, '1 node(s) had untolerated taint(s)'),
    ],
    ['a taint that only prefers', {}, { a: { taints: [{ key: 'k', effect: 'PreferNoSchedule' }] } }, 'a'],
    ['a tolerated taint', { tolerations: [{ key: 'own', value: 'mine' }] }, { a: { taints } }, 'a'],
    [
      'a toleration of another value',
      { tolerations: [{ key: 'own', value: 'yours' }] },
      { a: { taints } },
      untolerated(1),
    ],
    ['a toleration of any value', { tolerations: [{ key: 'own', operator: 'Exists' }] }, { a: { taints } }, 'a'],
    ['a toleration of everything', { tolerations: [{ operator: 'Exists' }] }, { a: { taints } }, 'a'],
    [
      'a toleration of another effect',
      { tolerations: [{ key: 'own', operator: 'Exists', effect: 'NoExecute' }] },
      { a: { taints } },
      untolerated(1),
    ],
    [
      'a toleration of larger values',
      { tolerations: [{ key: 'size', operator: 'Gt', value: '9' }] },
      {
        a: { taints: [{ key: 'size', value: '9', effect: 'NoSchedule' }] },
        b: { taints: [{ key: 'size', value: '10', effect: 'NoSchedule' }] },
      },
      'b',
    ],
    ['a node selector', { nodeSelector: { disk: 'ssd' } }, disks, 'b'],
    ['a node selector with two labels', { nodeSelector: { disk: 'ssd', size: '9' } }, disks, unselected(3)],
    ['In', expression('disk', 'In', 'nvme', 'ssd'), disks, 'b'],
    ['NotIn, where labels may be missing', { ...expression('disk', 'NotIn', 'ssd', 'hdd') }, disks, 'c'],
    ['Exists', expression('disk', 'Exists'), { c: {}, b: disks.b }, 'b'],
    ['DoesNotExist', expression('disk', 'DoesNotExist'), disks, 'c'],
    ['Gt', expression('size', 'Gt', '9'), disks, 'b'],
    ['Lt', expression('size', 'Lt', '10'), disks, 'a'],
    ['Gt of what is no number', expression('disk', 'Gt', '1'), disks, unselected(3)],
    [
      'terms are alternatives',
      required(
        { matchExpressions: [{ key: 'no', operator: 'Exists' }] },
        { matchExpressions: [{ key: 'disk', operator: 'In', values: ['ssd'] }] },
      ),
      disks,
      'b',
    ],
    ['an empty term fits no node', required({}), disks, unselected(3)],
    [
      'node selector and affinity together',
      { nodeSelector: { disk: 'ssd' }, ...expression('size', 'Lt', '10') },
      disks,
      unselected(3),
    ],
    ['a field', required(field('b')), disks, 'b'],
    [
      'a field that excludes',
      { ...required(field('b', 'NotIn')), nodeSelector: { disk: 'ssd' } },
      disks,
      unselected(3),
    ],
    [
      'a field that names a node which refuses',
      { ...required(field('b')), requests: requests('9') },
      disks,
      none(3, "1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]"),
    ],
    [
      'a field that names no node',
      required(field('z')),
      disks,
      none(3, "3 node(s) didn't satisfy plugin(s) [NodeAffinity]"),
    ],
    ['names excluded by label', except('a', 'c'), disks, 'b'],
    ['no nodes', {}, {}, 'no nodes available to schedule pods'],
    [
      'reasons are counted and sorted',
      { requests: requests('5') },
      { a: { taints }, b: {}, c: { unschedulable: true }, d: {} },
      none(4, '1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, 2 Insufficient cpu'),
    ],
    ['a free port', port(80), busy(81), 'a'],
    ['a taken port', port(80), busy(80), taken],
    ['the same port of another protocol', port(80, { protocol: 'UDP' }), busy(80), 'a'],
    ['the same port of another address', port(80, { hostIP: '10.0.0.1' }), busy(80, { hostIP: '10.0.0.2' }), 'a'],
    ['a port of all addresses, taken at one', port(80), busy(80, { hostIP: '10.0.0.2' }), taken],
    ['a port of one address, taken at all', port(80, { hostIP: '10.0.0.2' }), busy(80, { hostIP: '0.0.0.0' }), taken],
  ]);
});
