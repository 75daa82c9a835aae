import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Kubectl } from './support/kubectl.js';
import { sharedCluster } from './support/shared-cluster.js';
import type { TestCluster } from './support/test-cluster.js';

let cluster: TestCluster;
before(async () => {
  cluster = await sharedCluster('plain');
  const made = await cluster.first.client.post('/api/v1/namespaces', { metadata: { name: 'virtual-kinds' } });
  assert.equal(made.status, 201, made.text);
});
after(() => cluster.stop());

const pods = '/api/v1/namespaces/virtual-kinds/pods';
const bindings = '/api/v1/namespaces/virtual-kinds/bindings';

async function addPod(name: string): Promise<void> {
  const spec = { containers: [{ name: 'c', image: 'i' }] };
  assert.equal((await cluster.first.client.post(pods, { metadata: { name }, spec })).status, 201);
}

async function nodeOf(name: string): Promise<string | undefined> {
  return (await cluster.first.client.get(`${pods}/${name}`)).body.spec.nodeName;
}

describe('bindings', () => {
  it('put a pod on a node, once', async () => {
    const { client } = cluster.first;
    await addPod('a');
    const body = { metadata: { name: 'a', annotations: { why: 'here' } }, target: { kind: 'Node', name: 'n1' } };
    assert.equal((await client.post(`${bindings}?dryRun=All`, body)).status, 201);
    assert.equal(await nodeOf('a'), undefined);
    const answer = await client.post(bindings, body);
    assert.equal(answer.status, 201, answer.text);
    assert.deepEqual(answer.body, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 });
    assert.equal(await nodeOf('a'), 'n1');
    const pod = (await client.get(`${pods}/a`)).body;
    assert.equal(pod.metadata.annotations.why, 'here');
    assert.equal(pod.status.conditions[0].type, 'PodScheduled');
    const again = await client.post(bindings, { metadata: { name: 'a' }, target: { name: 'n2' } });
    assert.equal(again.status, 409);
    assert.match(again.body.message, /pod a is already assigned to node "n1"/);
  });

  it('below the pod change its labels and annotations, and nobody comes to own what they change', async () => {
    const { client } = cluster.first;
    await addPod('labelled');
    const metadata = { name: 'labelled', labels: { zone: 'z1' }, annotations: { why: 'there' } };
    for (const named of [{}, { metadata: { name: 'another' } }]) {
      const unnamed = await client.post(`${pods}/labelled/binding`, { ...named, target: { name: 'n1' } });
      const message = 'name in URL does not match name in Binding object';
      assert.deepEqual([unnamed.status, unnamed.body.message], [400, message]);
    }
    const other = await client.post(`${pods}/labelled/binding`, {
      metadata: { ...metadata, uid: 'other' },
      target: { name: 'n1' },
    });
    assert.equal(other.status, 409);
    assert.match(other.body.message, /Key: \/registry\/pods\/virtual-kinds\/labelled, .*UID in precondition: other,/);
    const answer = await client.post(`${pods}/labelled/binding`, { metadata, target: { kind: 'Node', name: 'n1' } });
    assert.equal(answer.status, 201, answer.text);
    const pod = (await client.get(`${pods}/labelled`)).body;
    assert.equal(pod.spec.nodeName, 'n1');
    assert.deepEqual([pod.metadata.labels, pod.metadata.annotations], [{ zone: 'z1' }, { why: 'there' }]);
    const owned = JSON.stringify(pod.metadata.managedFields);
    for (const field of ['nodeName', 'zone', 'why', 'binding']) assert.ok(!owned.includes(field), owned);
  });

  it('refuse what is no binding of a pod', async () => {
    const { client } = cluster.first;
    await addPod('b');
    const target = { name: 'n1' };
    const cases: readonly (readonly [object, number, RegExp])[] = [
      [{ metadata: {}, target }, 400, /Name parameter required/],
      [{ metadata: { name: 'b' } }, 500, /target\.name: Required value/],
      [{ metadata: { name: 'b' }, target: { kind: 'Pod', name: 'x' } }, 500, /target\.kind/],
      [{ metadata: { name: 'none' }, target }, 404, /pods "none" not found/],
      [{ metadata: { name: 'b', uid: 'other' }, target }, 409, /UID in precondition: other, UID in object meta: .+/],
      [
        { metadata: { name: 'b', resourceVersion: '1' }, target },
        409,
        /Key: \/registry\/pods\/virtual-kinds\/b, .*ResourceVersion in precondition: 1,/,
      ],
      [{ metadata: { name: 'b', namespace: 'elsewhere' }, target }, 400, /namespace/],
    ];
    for (const [body, status, message] of cases) {
      const answer = await client.post(bindings, body);
      assert.equal(answer.status, status, answer.text);
      assert.match(answer.body.message, message);
    }
    assert.equal((await client.get(bindings)).status, 405);
    assert.equal(
      (await client.post('/api/v1/namespaces/none/bindings', { metadata: { name: 'b' }, target })).status,
      404,
    );
    assert.equal(await nodeOf('b'), undefined);
  });
});

describe('virtual kinds', () => {
  it('have no other form than their own', async () => {
    const headers = { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' };
    const body = { metadata: { name: 'none' }, target: { name: 'n1' } };
    const refused = await cluster.first.client.post(bindings, body, { headers });
    assert.equal(refused.status, 406, refused.text);
    const plain = { accept: `${headers.accept},application/json` };
    assert.equal((await cluster.first.client.post(bindings, body, { headers: plain })).status, 404);
  });
});

describe('componentstatuses', () => {
  it('show the health of storage', async () => {
    const { client } = cluster.first;
    const item = {
      metadata: { name: 'storage' },
      conditions: [{ type: 'Healthy', status: 'True', message: 'ok' }],
    };
    const one = await client.get('/api/v1/componentstatuses/storage');
    assert.deepEqual(one.body, { kind: 'ComponentStatus', apiVersion: 'v1', ...item });
    const list = await client.get('/api/v1/componentstatuses');
    assert.deepEqual(list.body, { kind: 'ComponentStatusList', apiVersion: 'v1', metadata: {}, items: [item] });
    const none = await client.get('/api/v1/componentstatuses?labelSelector=a%3Db');
    assert.deepEqual(none.body.items, []);
    const kubectl = new Kubectl(cluster.first.kubeconfig);
    assert.match(kubectl.ok(['get', 'cs']), /^storage\s+Healthy\s+ok/m);
    assert.match(kubectl.ok(['get', 'cs', 'storage', '-o', 'yaml']), /kind: ComponentStatus/);
  });

  it('can only be read', async () => {
    const { client } = cluster.first;
    const { status, body } = await client.get('/api/v1/componentstatuses/none');
    assert.deepEqual([status, body.message], [404, 'componentstatus "none" not found']);
    assert.equal((await client.get('/api/v1/componentstatuses?watch=1')).status, 405);
    assert.equal((await client.post('/api/v1/componentstatuses', { metadata: { name: 'x' } })).status, 405);
    assert.equal((await client.delete('/api/v1/componentstatuses/storage')).status, 405);
  });
});

describe('discovery', () => {
  it('lists them with their verbs, and without a stored version', async () => {
    const { resources } = (await cluster.first.client.get('/api/v1')).body;
    const entry = (name: string) => resources.find((r: { name: string }) => r.name === name);
    assert.deepEqual(entry('bindings'), {
      name: 'bindings',
      singularName: 'binding',
      namespaced: true,
      kind: 'Binding',
      verbs: ['create'],
    });
    assert.deepEqual(entry('componentstatuses').verbs, ['get', 'list']);
    assert.equal(entry('componentstatuses').storageVersionHash, undefined);
    assert.deepEqual(entry('pods/eviction'), {
      name: 'pods/eviction',
      singularName: '',
      namespaced: true,
      group: 'policy',
      version: 'v1',
      kind: 'Eviction',
      verbs: ['create'],
    });
  });
});
