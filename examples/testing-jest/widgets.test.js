const { join } = require('node:path');
const { startCluster } = require('plinth/testing');

const widgets = '/apis/example.org/v1/namespaces/shop/widgets';
let cluster;

beforeAll(async () => {
  cluster = await startCluster({ fixtures: join(__dirname, 'widgets.yaml') });
});
beforeEach(() => cluster.reset());
afterAll(() => cluster.stop());

const widget = (size) => ({
  apiVersion: 'example.org/v1',
  kind: 'Widget',
  metadata: { name: 'first' },
  spec: { size },
});

it('stores widgets', async () => {
  await cluster.request('POST', widgets, widget(3));
  const { items } = await cluster.request('GET', widgets);
  expect(items).toHaveLength(1);
});

it('begins each test with none', async () => {
  const { items } = await cluster.request('GET', widgets);
  expect(items).toEqual([]);
});

it('refuses widgets without a size', async () => {
  await expect(cluster.request('POST', widgets, widget(0))).rejects.toMatchObject({ status: 422, reason: 'Invalid' });
});
