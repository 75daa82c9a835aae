import assert from 'node:assert/strict';
import { after, before, beforeEach, it } from 'node:test';
import { CustomObjectsApi, KubeConfig } from '@kubernetes/client-node';
import { startCluster } from 'plinth/testing';

const widgets = { group: 'example.org', version: 'v1', namespace: 'shop', plural: 'widgets' };
let cluster;
let api;

before(async () => {
  cluster = await startCluster({ fixtures: new URL('widgets.yaml', import.meta.url) });
  api = cluster.loadInto(new KubeConfig()).makeApiClient(CustomObjectsApi);
});
beforeEach(() => cluster.reset());
after(() => cluster.stop());

const widget = (size) => ({
  apiVersion: 'example.org/v1',
  kind: 'Widget',
  metadata: { name: 'first' },
  spec: { size },
});

it('stores widgets', async () => {
  await api.createNamespacedCustomObject({ ...widgets, body: widget(3) });
  const { items } = await api.listNamespacedCustomObject(widgets);
  assert.deepEqual(
    items.map(({ spec }) => spec.size),
    [3],
  );
});

it('begins each test with none', async () => {
  const { items } = await api.listNamespacedCustomObject(widgets);
  assert.deepEqual(items, []);
});

it('refuses widgets without a size', async () => {
  await assert.rejects(api.createNamespacedCustomObject({ ...widgets, body: widget(0) }), { code: 422 });
});

it('lets others only read if they may', async () => {
  const alice = await cluster.kubeconfigFor({ user: 'alice', groups: ['devs'] });
  const hers = alice.loadInto(new KubeConfig()).makeApiClient(CustomObjectsApi);
  await assert.rejects(hers.listNamespacedCustomObject(widgets), { code: 403 });
  await cluster.apply(`
    apiVersion: rbac.authorization.k8s.io/v1
    kind: Role
    metadata: { name: readers, namespace: shop }
    rules: [{ apiGroups: [example.org], resources: [widgets], verbs: [list] }]
    ---
    apiVersion: rbac.authorization.k8s.io/v1
    kind: RoleBinding
    metadata: { name: readers, namespace: shop }
    roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: readers }
    subjects: [{ apiGroup: rbac.authorization.k8s.io, kind: Group, name: devs }]
  `);
  // Rights take effect within moments.
  for (;;) {
    const answer = await hers.listNamespacedCustomObject(widgets).catch((error) => error);
    if (answer.items !== undefined) break;
    assert.equal(answer.code, 403);
  }
});
