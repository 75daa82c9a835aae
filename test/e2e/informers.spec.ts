import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  CoreV1Api,
  type Informer,
  KubeConfig,
  makeInformer,
  type ObjectCache,
  type V1ConfigMap,
} from '@kubernetes/client-node';
import { sharedCluster } from './support/shared-cluster.js';
import { eventually, type TestCluster } from './support/test-cluster.js';

let cluster: TestCluster;
let running = true;
const path = '/api/v1/namespaces/default/configmaps';

before(async () => {
  cluster = await sharedCluster('plain');
});

after(() => cluster.stop());

function informerOn(server: number): Informer<V1ConfigMap> & ObjectCache<V1ConfigMap> {
  const config = new KubeConfig();
  config.loadFromFile(cluster.servers[server]?.kubeconfig as string);
  const api = config.makeApiClient(CoreV1Api);
  const informer = makeInformer(config, path, () => api.listNamespacedConfigMap({ namespace: 'default' }));
  informer.on('error', () => {
    // Connections break when servers restart: the informer is started again, as its users do.
    if (running) setTimeout(() => void informer.start().catch(() => undefined), 100);
  });
  return informer;
}

describe('informers of the JavaScript client', () => {
  it('stay in step through 1,000 changes and a restart of the server', async () => {
    const informers = [informerOn(0), informerOn(1)];
    for (const informer of informers) await informer.start();
    const expected = new Map<string, string>();
    const { client } = cluster.second;
    const writer = async (offset: number) => {
      for (let i = 0; i < 250; i++) {
        const name = `i${(offset * 250 + i) % 97}`;
        const value = `${offset}-${i}`;
        if (i % 5 === 4) await client.delete(`${path}/${name}`);
        const created = await client.post(path, { metadata: { name }, data: { value } });
        if (created.status !== 201) await client.patch(`${path}/${name}`, 'merge', { data: { value } });
      }
    };
    const writing = Promise.all([0, 1, 2, 3].map(writer));
    await cluster.restartServer(cluster.first, 'SIGTERM');
    await writing;

    const { body } = await client.get(path);
    for (const item of body.items) expected.set(item.metadata.name, item.data?.value);
    assert.ok(expected.size > 50);
    for (const informer of informers) {
      await eventually(() => {
        const seen = new Map(informer.list('default').map((o) => [o.metadata?.name ?? '', o.data?.value ?? '']));
        return seen.size === expected.size && [...expected].every(([name, value]) => seen.get(name) === value);
      }, 'the informer to show what the server has');
    }
    running = false;
    for (const informer of informers) await informer.stop();
  });
});
