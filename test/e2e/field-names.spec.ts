import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { TestCluster } from './support/test-cluster.js';

let cluster: TestCluster;
before(async () => {
  cluster = await TestCluster.start({ servers: 1 });
});
after(() => cluster.stop());

it('health checks answer to the names that probes know', async () => {
  const { client } = cluster.first;
  for (const path of [
    '/livez/etcd',
    '/readyz/etcd',
    '/healthz/etcd',
    '/readyz/informer-sync',
    '/readyz/poststarthook/bootstrap-controller',
    '/livez/poststarthook/scheduling/bootstrap-system-priority-classes',
  ]) {
    const { status, text } = await client.get(path);
    assert.deepEqual([path, status, text], [path, 200, 'ok']);
  }
  assert.equal((await client.get('/livez/nothing')).status, 404);
  const { status, text } = await client.get('/livez?verbose&exclude=etcd');
  assert.equal(status, 200);
  assert.doesNotMatch(text, /warn/);
});

it('open watches are counted by the labels of requests', async () => {
  const { client } = cluster.first;
  const watch = await client.watch('/api/v1/namespaces/default/configmaps?watch=1');
  const series =
    'apiserver_longrunning_gauge{verb="WATCH",group="",version="v1",resource="configmaps",subresource="",scope="namespace",component="apiserver"}';
  assert.ok((await client.get('/metrics')).text.includes(`${series} 1\n`));
  watch.close();
});

it('the system classes of pods are there and stay', async () => {
  const { client } = cluster.first;
  const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';
  const { items } = (await client.get(classes)).body;
  assert.deepEqual(
    items.map(({ metadata, value }: { metadata: { name: string }; value: number }) => [metadata.name, value]),
    [
      ['system-cluster-critical', 2_000_000_000],
      ['system-node-critical', 2_000_001_000],
    ],
  );
  const refused = await client.delete(`${classes}/system-node-critical`);
  assert.equal(refused.status, 403);
  assert.equal(
    refused.body.message,
    'priorityclasses.scheduling.k8s.io "system-node-critical" is forbidden: this is a system priority class and cannot be deleted',
  );
  assert.equal((await client.post(classes, { metadata: { name: 'mine' }, value: 5 })).status, 201);
  assert.equal((await client.delete(`${classes}/mine`)).status, 200);
});
