import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { TestCluster } from './support/test-cluster.js';

let cluster: TestCluster;
before(async () => {
  cluster = await TestCluster.start({ servers: 1, flags: ['--authorization-mode=RBAC'] });
});
after(() => cluster.stop());

it('health checks answer to the names that probes know', async () => {
  const { client } = cluster.first;
  for (const path of [
    '/livez/etcd',
    '/readyz/etcd',
    '/healthz/etcd',
    '/readyz/informer-sync',
    '/readyz/autoregister-completion',
    '/livez/poststarthook/rbac/bootstrap-roles',
    '/livez/poststarthook/start-kube-apiserver-admission-initializer',
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
    'apiserver_longrunning_requests{verb="WATCH",group="",version="v1",resource="configmaps",subresource="",scope="namespace",component="apiserver"}';
  assert.ok((await client.get('/metrics')).text.includes(`${series} 1\n`));
  watch.close();
});

it('requests are counted by the verbs and labels that dashboards ask for', async () => {
  const { client } = cluster.first;
  const path = '/api/v1/namespaces/default/configmaps';
  const body = { metadata: { name: 'counted' } };
  await client.post(`${path}?dryRun=All`, body);
  await client.post(path, body);
  await client.put(`${path}/counted`, body);
  await client.patch(`${path}/counted`, 'merge', { data: { a: 'b' } });
  await client.get(`${path}/counted`);
  await client.get(path);
  await client.delete(`${path}/counted`);
  await client.delete(path);
  await client.post('/apis/policy/v1beta1/namespaces/default/poddisruptionbudgets?dryRun=All', {});
  const { text } = await client.get('/metrics');
  const labels = 'group="",version="v1",resource="configmaps",subresource=""';
  for (const [verb, scope, code, dryRun] of [
    ['POST', 'namespace', 201, 'All'],
    ['POST', 'namespace', 201, ''],
    ['PUT', 'resource', 200, ''],
    ['PATCH', 'resource', 200, ''],
    ['GET', 'resource', 200, ''],
    ['LIST', 'namespace', 200, ''],
    ['DELETE', 'resource', 200, ''],
    ['DELETECOLLECTION', 'namespace', 200, ''],
  ]) {
    const common = `{verb="${verb}",${labels},scope="${scope}"`;
    const counted = `apiserver_request_total${common},code="${code}",dry_run="${dryRun}",component="apiserver"} 1\n`;
    assert.ok(text.includes(counted), counted);
    const timed = `apiserver_request_duration_seconds_count${common},dry_run="${dryRun}",component="apiserver"} 1\n`;
    assert.ok(text.includes(timed), timed);
  }
  const deprecated = 'group="policy",version="v1beta1",resource="poddisruptionbudgets",subresource=""';
  assert.ok(text.includes(`apiserver_requested_deprecated_apis{${deprecated},removed_release="1.25"} 1\n`));
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
