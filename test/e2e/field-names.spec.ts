import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { TestCluster } from './support/test-cluster.js';

let cluster: TestCluster;
before(async () => {
  cluster = await TestCluster.start({
    servers: 1,
    flags: ['--authorization-mode=RBAC', '--runtime-config=policy/v1beta1'],
  });
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
    '/livez/poststarthook/start-serving',
    '/readyz/etcd-readiness',
    '/readyz/storage',
    '/livez/poststarthook/scheduling/bootstrap-system-priority-classes',
  ]) {
    const { status, text } = await client.get(path);
    assert.deepEqual([path, status, text], [path, 200, 'ok']);
  }
  const missing = await client.get('/livez/nothing');
  assert.deepEqual([missing.status, missing.text], [404, '404 page not found\n']);
  for (const path of [
    '/livez/',
    '/readyz/',
    '/healthz/',
    '/livez/ping/',
    '/metrics/',
    '/metrics/slis/',
    '/openapi/v2/',
  ]) {
    const { status, text } = await client.get(path);
    assert.deepEqual([path, status, text], [path, 404, '404 page not found\n']);
  }
  for (const path of ['/api/', '/api/v1/', '/apis/', '/version/']) {
    assert.equal((await client.get(path)).status, 200, path);
  }
  const live = (await client.get('/livez?verbose')).text;
  const ready = (await client.get('/readyz?verbose')).text;
  for (const name of [
    'etcd',
    'poststarthook/rbac/bootstrap-roles',
    'poststarthook/crd-informer-synced',
    'autoregister-completion',
  ]) {
    for (const text of [live, ready]) assert.ok(text.includes(`[+]${name} ok\n`), `${name} in ${text}`);
  }
  assert.equal(new Set(ready.split('\n')).size, ready.split('\n').length, 'each check has one line');
  const { status, text } = await client.get('/livez?verbose&exclude=etcd');
  assert.equal(status, 200);
  assert.doesNotMatch(text, /warn/);
});

it('metrics also come in protobuf, for scrapers that ask for it', async () => {
  const { client } = cluster.first;
  const family = 'proto=io.prometheus.client.MetricFamily';
  const wanted = `application/vnd.google.protobuf;${family};encoding=delimited`;
  for (const [accept, isProtobuf] of [
    [wanted, true],
    [`${wanted};q=0.6,text/plain;q=0.5`, true],
    [`${wanted};q=0.3,text/plain;q=0.5`, false],
    ['application/vnd.google.protobuf', false],
    ['application/json', false],
  ] as const) {
    const { status, headers, text } = await client.get('/metrics', { headers: { accept } });
    assert.equal(status, 200);
    const type = isProtobuf ? `application/vnd.google.protobuf; ${family}; encoding=delimited` : 'text/plain;';
    assert.ok(headers['content-type']?.startsWith(type), `${accept}: ${headers['content-type']}`);
    assert.equal(text.includes('# HELP'), !isProtobuf);
    assert.match(text, /apiserver_request_duration_seconds/);
  }
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

it('paths outside the API answer pages, those of served groups a Status', async () => {
  const { client } = cluster.first;
  for (const path of ['/nothing', '/apis/none', '/apis/none/v1/x', '/metrics/x', '/healthz/nothing', '/logs/']) {
    const { status, text, headers } = await client.get(path);
    assert.deepEqual([path, status, text], [path, 404, '404 page not found\n']);
    assert.equal(headers['content-type'], 'text/plain; charset=utf-8');
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.ok(headers['audit-id']);
  }
  assert.equal((await client.get('/debug/pprof/cmdline')).text, 'Unknown profile\n');
  for (const path of ['/apis/apps/v2', '/apis/apps/v2/x', '/api/v2', '/api/v1/nothing', '/version/x']) {
    const { status, body } = await client.get(path);
    assert.deepEqual([path, status, body?.kind], [path, 404, 'Status']);
  }
});

it('the verbosity can be changed while the process runs', async () => {
  const { client } = cluster.first;
  const put = (raw: string) => client.send('PUT', '/debug/flags/v', { raw, contentType: 'text/plain' });
  assert.deepEqual(
    [(await put('5')).text, (await put('0')).text],
    [5, 0].map((v) => `successfully set klog.logging.verbosity to ${v}`),
  );
  assert.equal((await put('x')).status, 400);
  assert.equal((await put('1'.repeat(100))).status, 413);
  assert.equal((await client.get('/debug/flags/v')).status, 406);
});

it('aggregated discovery comes in protobuf, with the same groups', async () => {
  const { client } = cluster.first;
  const form = 'g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  const { headers, text } = await client.get('/apis', {
    headers: { accept: `application/vnd.kubernetes.protobuf;${form}` },
  });
  assert.equal(headers['content-type'], `application/vnd.kubernetes.protobuf;${form}`);
  assert.match(text, /^k8s\0/);
  const { body } = await client.get('/apis', { headers: { accept: `application/json;${form}` } });
  for (const { metadata } of body.items) assert.ok(text.includes(metadata.name));
});
