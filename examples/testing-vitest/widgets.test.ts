import { CustomObjectsApi, KubeConfig } from '@kubernetes/client-node';
import { startCluster, type TestCluster } from 'plinth/testing';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';

const widgets = { group: 'example.org', version: 'v1', namespace: 'shop', plural: 'widgets' };
let cluster: TestCluster;
let api: CustomObjectsApi;

beforeAll(async () => {
  cluster = await startCluster({ fixtures: new URL('widgets.yaml', import.meta.url) });
  api = cluster.loadInto(new KubeConfig()).makeApiClient(CustomObjectsApi);
});
beforeEach(() => cluster.reset());
afterAll(() => cluster.stop());

const widget = (size: number) => ({
  apiVersion: 'example.org/v1',
  kind: 'Widget',
  metadata: { name: 'first' },
  spec: { size },
});

it('stores widgets', async () => {
  await api.createNamespacedCustomObject({ ...widgets, body: widget(3) });
  const { items } = await api.listNamespacedCustomObject(widgets);
  expect(items).toHaveLength(1);
});

it('begins each test with none', async () => {
  const { items } = await api.listNamespacedCustomObject(widgets);
  expect(items).toEqual([]);
});

it('refuses widgets without a size', async () => {
  await expect(api.createNamespacedCustomObject({ ...widgets, body: widget(0) })).rejects.toMatchObject({ code: 422 });
});
