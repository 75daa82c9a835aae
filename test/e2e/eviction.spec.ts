import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { ApiResponse } from './support/api-client.js';
import { Kubectl } from './support/kubectl.js';
import { sharedCluster } from './support/shared-cluster.js';
import type { TestCluster } from './support/test-cluster.js';

let cluster: TestCluster;
let count = 0;
let namespace: string;

before(async () => {
  cluster = await sharedCluster('plain');
});
after(() => cluster.stop());
beforeEach(async () => {
  namespace = `eviction-${++count}`;
  const answer = await cluster.first.client.post('/api/v1/namespaces', { metadata: { name: namespace } });
  assert.equal(answer.status, 201);
});

const podsPath = () => `/api/v1/namespaces/${namespace}/pods`;
const budgetsPath = () => `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`;

/** A pod that runs, ready or not. */
async function addPod(name: string, { phase = 'Running', ready = true, labels = { app: 'a' }, nodeName = '' } = {}) {
  const { client } = cluster.first;
  const spec = { containers: [{ name: 'c', image: 'i' }], ...(nodeName === '' ? {} : { nodeName }) };
  const made = await client.post(podsPath(), { metadata: { name, labels }, spec });
  assert.equal(made.status, 201, made.text);
  const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }];
  const changed = await client.patch(`${podsPath()}/${name}/status`, 'merge', { status: { phase, conditions } });
  assert.equal(changed.status, 200, changed.text);
}

/** A budget with a status from its controller. */
async function addBudget(name: string, status: object, spec: object = {}) {
  const { client } = cluster.first;
  const selector = { matchLabels: { app: 'a' } };
  const body = { metadata: { name }, spec: { minAvailable: 1, selector, ...spec } };
  const made = await client.post(budgetsPath(), body);
  assert.equal(made.status, 201, made.text);
  const known = { observedGeneration: 1, disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 };
  const changed = await client.patch(`${budgetsPath()}/${name}/status`, 'merge', { status: { ...known, ...status } });
  assert.equal(changed.status, 200, changed.text);
}

function evict(name: string, deleteOptions?: object, query = '', version = 'v1'): Promise<ApiResponse> {
  const body = { apiVersion: `policy/${version}`, kind: 'Eviction', metadata: { name }, deleteOptions };
  return cluster.second.client.post(`${podsPath()}/${name}/eviction${query}`, body);
}

async function exists(name: string): Promise<boolean> {
  return (await cluster.first.client.get(`${podsPath()}/${name}`)).status === 200;
}

async function budgetStatus(name: string) {
  return (await cluster.first.client.get(`${budgetsPath()}/${name}`)).body.status;
}

describe('eviction', () => {
  it('deletes a pod that no budget selects', async () => {
    await addPod('p', { labels: { app: 'other' } });
    await addBudget('b', {});
    const answer = await evict('p');
    assert.equal(answer.status, 201, answer.text);
    assert.deepEqual(answer.body, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 });
    assert.equal(await exists('p'), false);
    assert.equal((await evict('p')).status, 404);
  });

  it('counts against the budget, until nothing is left', async () => {
    await addPod('p');
    await addPod('q');
    await addBudget('b', { disruptionsAllowed: 1, currentHealthy: 2 });
    assert.equal((await evict('p', undefined, '', 'v1beta1')).status, 201);
    const status = await budgetStatus('b');
    assert.equal(status.disruptionsAllowed, 0);
    assert.deepEqual(Object.keys(status.disruptedPods), ['p']);
    assert.equal(status.conditions[0].reason, 'InsufficientPods');
    const refused = await evict('q');
    assert.equal(refused.status, 429);
    assert.equal(refused.headers['retry-after'], undefined);
    assert.equal(refused.body.reason, 'TooManyRequests');
    assert.deepEqual(refused.body.details.causes, [
      { reason: 'DisruptionBudget', message: 'The disruption budget b needs 1 healthy pods and has 2 currently' },
    ]);
    assert.equal(await exists('q'), true);
  });

  it('lets no more go than allowed when many ask at once, on several servers', async () => {
    const names = Array.from({ length: 8 }, (_, i) => `p${i}`);
    await Promise.all(names.map((name) => addPod(name)));
    await addBudget('b', { disruptionsAllowed: 3, currentHealthy: 8, desiredHealthy: 5 });
    const body = (name: string) => ({ metadata: { name } });
    const answers = await Promise.all(
      names.map((name, i) =>
        (i % 2 === 0 ? cluster.first : cluster.second).client.post(`${podsPath()}/${name}/eviction`, body(name)),
      ),
    );
    const codes = answers.map(({ status }) => status).sort();
    assert.deepEqual(codes, [201, 201, 201, 429, 429, 429, 429, 429]);
    assert.equal((await budgetStatus('b')).disruptionsAllowed, 0);
    assert.equal((await cluster.first.client.get(podsPath())).body.items.length, 5);
  });

  it('waits for a budget whose status is older than its spec', async () => {
    await addPod('p');
    await addBudget('b', { observedGeneration: 0, disruptionsAllowed: 1 });
    const answer = await evict('p');
    assert.equal(answer.status, 429);
    assert.match(answer.body.details.causes[0].message, /still being processed/);
    assert.equal(answer.headers['retry-after'], '10');
  });

  it('refuses when two budgets select the pod', async () => {
    await addPod('p');
    await addBudget('b', { disruptionsAllowed: 1 });
    await addBudget('c', { disruptionsAllowed: 1 });
    const answer = await evict('p');
    assert.equal(answer.status, 500);
    assert.match(answer.body.message, /more than one PodDisruptionBudget/);
    assert.equal(await exists('p'), true);
  });

  it('asks no budget for pods that do not serve', async () => {
    await addBudget('b', {});
    for (const phase of ['Pending', 'Succeeded', 'Failed']) {
      await addPod(phase.toLowerCase(), { phase });
      assert.equal((await evict(phase.toLowerCase())).status, 201, phase);
      assert.equal(await exists(phase.toLowerCase()), false);
    }
  });

  it('marks a pod that has ended or is being deleted, too, and leaves what a delete before it has chosen', async () => {
    const pod = `${podsPath()}/p`;
    for (const [phase, isDeleted] of [
      ['Succeeded', false],
      ['Running', true],
    ] as const) {
      await addPod('p', { phase, nodeName: 'n1' });
      const held = { metadata: { finalizers: ['example.com/held'] } };
      assert.equal((await cluster.first.client.patch(pod, 'merge', held)).status, 200);
      if (isDeleted) assert.equal((await cluster.first.client.delete(pod)).status, 200);
      assert.equal((await evict('p', { propagationPolicy: 'Orphan' })).status, 201);
      const { metadata, status } = (await cluster.first.client.get(pod)).body;
      assert.deepEqual(metadata.finalizers, ['example.com/held', ...(isDeleted ? [] : ['orphan'])]);
      assert.equal(status.conditions.at(-1).type, 'DisruptionTarget');
      await cluster.first.client.patch(pod, 'merge', { metadata: { finalizers: null } });
      await cluster.first.client.delete(`${pod}?gracePeriodSeconds=0`);
    }
  });

  it('lets an unready pod go when enough others are healthy, or the budget always allows it', async () => {
    await addPod('p', { ready: false });
    await addBudget('b', { currentHealthy: 0 });
    assert.equal((await evict('p')).status, 429);
    await cluster.first.client.patch(`${budgetsPath()}/b/status`, 'merge', { status: { currentHealthy: 1 } });
    assert.equal((await evict('p')).status, 201);
    assert.equal((await budgetStatus('b')).disruptedPods, undefined);
    await cluster.first.client.delete(`${budgetsPath()}/b`);
    await addPod('q', { ready: false });
    await addBudget('c', { currentHealthy: 0 }, { unhealthyPodEvictionPolicy: 'AlwaysAllow' });
    assert.equal((await evict('q')).status, 201);
  });

  it('changes nothing in a dry run', async () => {
    await addPod('p');
    await addBudget('b', { disruptionsAllowed: 1 });
    assert.equal((await evict('p', undefined, '?dryRun=All')).status, 201);
    assert.equal((await evict('p', { dryRun: ['All'] })).status, 201);
    assert.equal(await exists('p'), true);
    const status = await budgetStatus('b');
    assert.equal(status.disruptionsAllowed, 1);
    assert.equal(status.disruptedPods, undefined);
    const { conditions } = (await cluster.first.client.get(`${podsPath()}/p`)).body.status;
    assert.deepEqual(
      conditions.map(({ type }: { type: string }) => type),
      ['Ready'],
    );
  });

  it('lets the garbage collector do what its policy asks for', async () => {
    for (const [propagationPolicy, finalizer] of [
      ['Foreground', 'foregroundDeletion'],
      ['Orphan', 'orphan'],
    ] as const) {
      const name = finalizer.toLowerCase();
      await addPod(name, { nodeName: 'n' });
      const evicted = await evict(name, { propagationPolicy, gracePeriodSeconds: 7 });
      assert.deepEqual([evicted.status, evicted.headers.warning], [201, undefined]);
      const { metadata } = (await cluster.first.client.get(`${podsPath()}/${name}`)).body;
      assert.deepEqual(metadata.finalizers, [finalizer]);
    }
  });

  it('keeps to the options of the delete, and counts nothing when they do not hold', async () => {
    await addPod('p', { nodeName: 'n' });
    await addBudget('b', { disruptionsAllowed: 1 });
    const wrong = await evict('p', { preconditions: { uid: 'x' } });
    assert.equal(wrong.status, 409, wrong.text);
    assert.equal((await evict('p', { propagationPolicy: 'Sideways' })).status, 422);
    const both = await evict('p', { preconditions: { uid: 'x' }, propagationPolicy: 'Sideways' });
    assert.equal(both.status, 409, 'another pod is meant');
    assert.equal((await evict('absent', { propagationPolicy: 'Sideways' })).status, 404);
    assert.equal((await budgetStatus('b')).disruptionsAllowed, 1);
    assert.equal((await evict('p', { gracePeriodSeconds: 7 })).status, 201);
    const { metadata, status } = (await cluster.first.client.get(`${podsPath()}/p`)).body;
    assert.equal(metadata.deletionGracePeriodSeconds, 7);
    const { lastTransitionTime, ...mark } = status.conditions.at(-1);
    assert.match(lastTransitionTime, /Z$/);
    assert.deepEqual(mark, {
      type: 'DisruptionTarget',
      status: 'True',
      lastProbeTime: null,
      reason: 'EvictionByEvictionAPI',
      message: 'Eviction API: evicting',
    });
    // Its deletion has begun, so it no longer counts.
    assert.equal((await evict('p')).status, 201);
  });

  it('evicts the very state that was asked for', async () => {
    await addPod('p', { nodeName: 'n' });
    const { resourceVersion } = (await cluster.first.client.get(`${podsPath()}/p`)).body.metadata;
    const stale = String(BigInt(resourceVersion) - 1n);
    assert.equal((await evict('p', { preconditions: { resourceVersion: stale } })).status, 409);
    const { conditions } = (await cluster.first.client.get(`${podsPath()}/p`)).body.status;
    assert.equal(conditions.length, 1, 'a refused eviction leaves no mark');
    assert.equal((await evict('p', { preconditions: { resourceVersion } })).status, 201);
    assert.ok((await cluster.first.client.get(`${podsPath()}/p`)).body.metadata.deletionTimestamp);
  });

  it('refuses bodies about something else', async () => {
    await addPod('p');
    const path = `${podsPath()}/p/eviction`;
    const { client } = cluster.first;
    for (const body of [
      { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'q' } },
      { apiVersion: 'policy/v2', kind: 'Eviction', metadata: { name: 'p' } },
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } },
      { metadata: { name: 'p', namespace: 'elsewhere' } },
      { apiVersion: 'policy/v1', kind: 'Eviction' },
    ]) {
      const answer = await client.post(path, body);
      assert.equal(answer.status, 400, answer.text);
      assert.equal(answer.body.kind, 'Status');
    }
    assert.equal((await client.get(path)).status, 405);
    assert.equal(await exists('p'), true);
  });

  it('is what kubectl drain asks for', async () => {
    const { client } = cluster.first;
    const node = `node-${count}`;
    assert.equal((await client.post('/api/v1/nodes', { metadata: { name: node } })).status, 201);
    await addPod('p', { nodeName: node });
    await client.patch(`${podsPath()}/p/status`, 'merge', { status: { phase: 'Succeeded' } });
    const kubectl = new Kubectl(cluster.first.kubeconfig);
    await addPod('q', { nodeName: node });
    await addBudget('b', {});
    // Long enough for a response on a busy machine.
    const refusal = /Cannot evict pod as it would violate the pod's disruption budget/;
    for (let seconds = 1; ; seconds *= 4) {
      const drained = kubectl.run(['drain', node, '--force', `--timeout=${seconds}s`]);
      assert.notEqual(drained.code, 0);
      if (!refusal.test(drained.stderr) && seconds < 16) continue;
      assert.match(drained.stderr, refusal);
      break;
    }
    assert.equal(await exists('q'), true);
    await cluster.first.client.patch(`${budgetsPath()}/b/status`, 'merge', { status: { disruptionsAllowed: 1 } });
    const output = kubectl.ok(['drain', node, '--force', '--timeout=30s', '--grace-period=0']);
    assert.match(output, /drained/);
    assert.equal(await exists('p'), false);
    assert.equal(await exists('q'), false);
    assert.equal((await client.get(`/api/v1/nodes/${node}`)).body.spec.unschedulable, true);
  });
});
