import { startCluster } from 'plinth/testing';

it('starts from a module, too', async () => {
  const cluster = await startCluster({ fixtures: new URL('widgets.yaml', import.meta.url) });
  try {
    const { items } = await cluster.request('GET', '/apis/example.org/v1/widgets');
    expect(items).toEqual([]);
  } finally {
    await cluster.stop();
  }
});
