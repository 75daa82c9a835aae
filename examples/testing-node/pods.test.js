import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { AppsV1Api, CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { startCluster } from 'plinth/testing';

let cluster;

before(async () => {
  cluster = await startCluster({ nodes: 2 });
});
after(() => cluster.stop());

it('runs the pods of a deployment on simulated nodes', { timeout: 60_000 }, async () => {
  const config = cluster.loadInto(new KubeConfig());
  const labels = { app: 'web' };
  await config.makeApiClient(AppsV1Api).createNamespacedDeployment({
    namespace: 'default',
    body: {
      metadata: { name: 'web' },
      spec: {
        replicas: 3,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'nginx' }] } },
      },
    },
  });
  const core = config.makeApiClient(CoreV1Api);
  for (;;) {
    const { items } = await core.listNamespacedPod({ namespace: 'default', labelSelector: 'app=web' });
    if (items.filter(({ status }) => status.phase === 'Running').length === 3) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await cluster.reset();
  const { items } = await core.listNamespacedPod({ namespace: 'default' });
  assert.deepEqual(items, []);
});
