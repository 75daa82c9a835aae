import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { eventually, TestCluster } from './support/test-cluster.js';

let cluster: TestCluster;
let loops: ChildProcess;
const rbac = '--authorization-mode=Node,RBAC';
const podsPath = '/api/v1/namespaces/default/pods';

const startLoops = () => cluster.startControllers([rbac]);

before(async () => {
  cluster = await TestCluster.start({ servers: 1, flags: [rbac], accounts: true });
  loops = startLoops();
  const { client } = cluster.first;
  await eventually(
    async () => (await client.get('/api/v1/namespaces/default/serviceaccounts/default')).status === 200,
    'the default account',
  );
});
after(() => cluster.stop());

async function addNode(name: string, cpu: string): Promise<void> {
  const { client } = cluster.first;
  const labels = { 'kubernetes.io/hostname': name };
  const status = { allocatable: { cpu, memory: '64Gi', pods: '110' }, conditions: [{ type: 'Ready', status: 'True' }] };
  const made = await client.post('/api/v1/nodes', { metadata: { name, labels }, status });
  assert.equal(made.status, 201, made.text);
  // New nodes are tainted until a control loop finds them ready.
  const opened = await client.patch(`/api/v1/nodes/${name}`, 'merge', { spec: { taints: null } });
  assert.equal(opened.status, 200, opened.text);
}

async function addPod(name: string, cpu = '100m', spec: object = {}): Promise<void> {
  const containers = [{ name: 'c', image: 'i', resources: { requests: { cpu } } }];
  const made = await cluster.first.client.post(podsPath, { metadata: { name }, spec: { containers, ...spec } });
  assert.equal(made.status, 201, made.text);
}

interface PodList {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly spec: { readonly nodeName?: string };
  }[];
}

async function placed(): Promise<PodList['items']> {
  const { items } = (await cluster.first.client.get(podsPath)).body as unknown as PodList;
  return items.filter(({ spec }) => spec.nodeName !== undefined);
}

describe('the scheduler beside a server with RBAC', () => {
  it('has the rights that it needs: to bind, to preempt and to tell', async () => {
    const { client } = cluster.first;
    await addNode('small', '1');
    await addPod('low', '800m');
    await eventually(async () => (await placed()).length === 1, 'a node for the pod');
    const important = { metadata: { name: 'important' }, value: 1000 };
    const path = '/apis/scheduling.k8s.io/v1/priorityclasses';
    assert.equal((await client.post(path, important)).status, 201);
    await addPod('high', '800m', { priorityClassName: 'important' });
    const preempted = await eventually(async () => {
      const { body } = await client.get(`${podsPath}/low`);
      return body.metadata.deletionTimestamp === undefined ? undefined : body;
    }, 'the less important pod ends');
    const conditions = preempted.status.conditions as { type: string; reason?: string }[];
    assert.equal(conditions.find(({ type }) => type === 'DisruptionTarget')?.reason, 'PreemptionByScheduler');
    const reasons = async () => {
      const { items } = (await client.get('/api/v1/namespaces/default/events')).body as unknown as {
        items: { reason: string; source?: { component?: string } }[];
      };
      return new Set(
        items.filter(({ source }) => source?.component === 'default-scheduler').map(({ reason }) => reason),
      );
    };
    await eventually(async () => {
      const reported = await reasons();
      return ['Scheduled', 'FailedScheduling', 'Preempted'].every((reason) => reported.has(reason));
    }, 'its events');
    await client.delete(`${podsPath}/low?gracePeriodSeconds=0`);
    await eventually(
      async () => (await placed()).some(({ metadata }) => metadata.name === 'high'),
      'the room is taken',
    );
  });

  it('loses no pod when it is killed in the middle', async () => {
    await addNode('a', '32');
    await addNode('b', '32');
    const already = (await placed()).length;
    const count = 150;
    const adding = Promise.all(Array.from({ length: count }, (_, i) => addPod(`p${i}`)));
    await eventually(async () => (await placed()).length > already + 10, 'some have a node');
    loops.kill('SIGKILL');
    await adding;
    // The next leader need not wait until the lease of the last one runs out.
    const lease = '/apis/coordination.k8s.io/v1/namespaces/control-system/leases/plinth-controllers';
    assert.equal((await cluster.first.client.delete(lease)).status, 200);
    loops = startLoops();
    await eventually(async () => (await placed()).length === already + count, 'all have a node');
    const onNodes = new Map<string, number>();
    for (const { spec } of await placed())
      onNodes.set(spec.nodeName ?? '', (onNodes.get(spec.nodeName ?? '') ?? 0) + 1);
    assert.ok((onNodes.get('a') ?? 0) > 60 && (onNodes.get('b') ?? 0) > 60, JSON.stringify([...onNodes]));
  });
});
