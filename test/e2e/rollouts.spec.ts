import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import type { ApiClient } from './support/api-client.js';
import { customDefinition, define, objectsPath } from './support/custom-definitions.js';
import { Kubectl } from './support/kubectl.js';
import { NodeProcess } from './support/node-process.js';
import { eventually, TestCluster } from './support/test-cluster.js';

const rbac = '--authorization-mode=Node,RBAC';

let cluster: TestCluster;
let admin: ApiClient;
let kubectl: Kubectl;
let nodes: NodeProcess;
let loops: ChildProcess;

before(async () => {
  cluster = await TestCluster.start({ flags: [rbac, '--enable-admission-plugins=NodeRestriction'], accounts: true });
  admin = cluster.first.client;
  kubectl = new Kubectl(cluster.first.kubeconfig);
  loops = cluster.startControllers([rbac]);
  nodes = await NodeProcess.start([`--kubeconfig=${cluster.second.kubeconfig}`]);
  const account = '/api/v1/namespaces/default/serviceaccounts/default';
  await eventually(async () => (await admin.get(account)).status === 200, 'the default account');
});
after(async () => {
  await nodes?.stop();
  await cluster?.stop();
});

const rollout = (...args: string[]) => kubectl.ok(['rollout', ...args]);
const field = (object: string, path: string) => kubectl.ok(['get', object, '-o', `jsonpath={${path}}`]);

const podField = (path: string) => kubectl.ok(['get', 'pods', '-l', 'app=web', '-o', `jsonpath={${path}}`]);

describe('kubectl and the loops of deployments', () => {
  it('roll out, go back, pause and go on', () => {
    kubectl.ok(['create', 'deployment', 'web', '--image=img:1']);
    kubectl.ok(['scale', 'deployment/web', '--replicas=3']);
    assert.match(rollout('status', 'deployment/web', '--timeout=50s'), /successfully rolled out/);
    kubectl.ok(['wait', '--for=condition=available', 'deployment/web', '--timeout=50s']);
    kubectl.ok(['set', 'image', 'deployment/web', 'img=img:2']);
    assert.match(rollout('status', 'deployment/web', '--timeout=50s'), /successfully rolled out/);
    assert.deepEqual(rollout('history', 'deployment/web').match(/^\d+/gm), ['1', '2']);
    assert.match(rollout('history', 'deployment/web', '--revision=2'), /Image:\s+img:2/);
    rollout('undo', 'deployment/web');
    rollout('status', 'deployment/web', '--timeout=50s');
    assert.deepEqual(rollout('history', 'deployment/web').match(/^\d+/gm), ['2', '3']);
    assert.equal(field('deployment/web', '.spec.template.spec.containers[0].image'), 'img:1');
    rollout('pause', 'deployment/web');
    kubectl.ok(['set', 'image', 'deployment/web', 'img=img:3']);
    kubectl.ok(['wait', '--for=condition=progressing=unknown', 'deployment/web', '--timeout=50s']);
    rollout('resume', 'deployment/web');
    rollout('status', 'deployment/web', '--timeout=50s');
    assert.match(kubectl.ok(['describe', 'deployment/web']), /NewReplicaSet:\s+web-\w+ \(3\/3 replicas created\)/);
  });

  it('show what is in the way of pods', async () => {
    kubectl.ok(['create', 'namespace', 'full']);
    kubectl.ok(['create', 'quota', 'few', '--hard=pods=1', '-n', 'full']);
    await eventually(async () => {
      const { body } = await admin.get('/api/v1/namespaces/full/resourcequotas/few');
      return body.status.hard?.pods === '1';
    }, 'the quota');
    kubectl.ok(['create', 'deployment', 'web', '--image=img:1', '-n', 'full']);
    kubectl.ok(['scale', 'deployment/web', '--replicas=3', '-n', 'full']);
    kubectl.ok(['wait', '--for=condition=replicafailure', 'deployment/web', '-n', 'full', '--timeout=50s']);
    const text = kubectl.ok(['describe', 'deployment/web', '-n', 'full']);
    assert.match(text, /ReplicaFailure\s+True\s+FailedCreate/);
    const event = /Error creating: pods "web-\w+-\w+" is forbidden: exceeded quota: few, requested: pods=1/;
    const events = () => kubectl.ok(['get', 'events', '-n', 'full', '--field-selector=reason=FailedCreate']);
    await eventually(() => event.test(events()), 'the event');
  });

  it('go on with an update when the leader stops in the middle of it', async () => {
    kubectl.ok(['create', 'deployment', 'long', '--image=img:1']);
    kubectl.ok(['scale', 'deployment/long', '--replicas=12']);
    rollout('status', 'deployment/long', '--timeout=50s');
    kubectl.ok(['set', 'image', 'deployment/long', 'img=img:2']);
    await eventually(() => Number(field('deployment/long', '.status.updatedReplicas')) > 0, 'the first new pods');
    const next = cluster.startControllers([rbac]);
    const ended = once(loops, 'exit');
    loops.kill('SIGTERM');
    await ended;
    loops = next;
    assert.match(rollout('status', 'deployment/long', '--timeout=50s'), /successfully rolled out/);
    const { items } = (await admin.get('/api/v1/namespaces/default/pods?labelSelector=app%3Dlong')).body;
    const staying = items.filter(({ metadata }: { metadata: object }) => !('deletionTimestamp' in metadata));
    assert.equal(staying.length, 12);
    kubectl.ok(['delete', 'deployment', 'long']);
  });
});

describe('kubectl and disruption budgets', () => {
  it('drain a node as far as the budget allows', async () => {
    const budget = { minAvailable: 3, selector: { matchLabels: { app: 'web' } } };
    const path = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
    const made = await admin.post(path, { metadata: { name: 'web' }, spec: budget });
    assert.equal(made.status, 201, made.text);
    await eventually(async () => (await admin.get(`${path}/web`)).body.status.currentHealthy === 3, 'healthy pods');
    const node = podField('.items[0].spec.nodeName');
    const name = podField('.items[0].metadata.name');
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } };
    const refused = await admin.post(`/api/v1/namespaces/default/pods/${name}/eviction`, eviction);
    assert.equal(refused.status, 429, refused.text);
    await admin.patch(`${path}/web`, 'merge', { spec: { minAvailable: 1 } });
    await eventually(async () => (await admin.get(`${path}/web`)).body.status.disruptionsAllowed === 2, 'room');
    kubectl.ok(['drain', node, '--timeout=50s']);
    rollout('status', 'deployment/web', '--timeout=50s');
    assert.doesNotMatch(podField('.items[*].spec.nodeName'), new RegExp(`\\b${node}\\b`));
    kubectl.ok(['uncordon', node]);
  });

  it('count pods of a custom kind by its scale', async () => {
    const subresources = { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } };
    const gangs = customDefinition({ plural: 'gangs', kind: 'Gang' }, [{ name: 'v1', subresources }]);
    await define(gangs, [cluster.first.client, cluster.second.client]);
    const gang = { apiVersion: 'test.example/v1', kind: 'Gang', metadata: { name: 'g' }, spec: { size: 4 } };
    const { body: owner } = await admin.post(objectsPath(gangs), gang);
    const { apiVersion, kind, metadata } = owner;
    const reference = { apiVersion, kind, name: 'g', uid: metadata.uid, controller: true };
    const labels = { gang: 'g' };
    const pod = {
      metadata: { name: 'g', labels, ownerReferences: [reference] },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    };
    assert.equal((await admin.post('/api/v1/namespaces/default/pods', pod)).status, 201);
    const path = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
    const spec = { maxUnavailable: '25%', selector: { matchLabels: labels } };
    assert.equal((await admin.post(path, { metadata: { name: 'g' }, spec })).status, 201);
    await eventually(async () => {
      const { status } = (await admin.get(`${path}/g`)).body;
      return status.expectedPods === 4 && status.desiredHealthy === 3 && status.currentHealthy === 1;
    }, 'the counts');
  });
});
