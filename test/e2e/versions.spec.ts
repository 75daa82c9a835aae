import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { mainFile } from '../support/main-file.js';
import type { ApiClient, ApiResponse } from './support/api-client.js';
import { freePort, TestCluster, type TestServer } from './support/test-cluster.js';

const hpas = (version: string): string => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;
const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'n' };
const memory = {
  type: 'Resource',
  resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '100Mi' } },
};

let cluster: TestCluster;
let client: ApiClient;

before(async () => {
  const older = [
    'autoscaling/v2beta2',
    'autoscaling/v2beta1',
    'batch/v1beta1',
    'events.k8s.io/v1beta1',
    'policy/v1beta1',
  ];
  cluster = await TestCluster.start({ servers: 1, flags: [`--runtime-config=${older.join(',')}`] });
  client = cluster.first.client;
});

after(() => cluster.stop());

function apply(path: string, body: unknown, manager: string, force = false): Promise<ApiResponse> {
  const query = `fieldManager=${manager}${force ? '&force=true' : ''}`;
  return client.send('PATCH', `${path}?${query}`, { body, contentType: 'application/apply-patch+yaml' });
}

interface Owner {
  readonly manager: string;
  readonly operation: string;
  readonly apiVersion: string;
  readonly fieldsV1: unknown;
}

/** `manager/operation/apiVersion` to the fields owned. */
function ownersOf({ body }: ApiResponse): Record<string, unknown> {
  const entries = (body.metadata.managedFields ?? []) as Owner[];
  return Object.fromEntries(
    entries.map(({ manager, operation, apiVersion, fieldsV1 }) => [`${manager} ${operation} ${apiVersion}`, fieldsV1]),
  );
}

describe('an object in several versions', () => {
  it('is one object, whole in each', async () => {
    const body = { metadata: { name: 'shared' }, spec: { scaleTargetRef, maxReplicas: 3, metrics: [memory] } };
    assert.equal((await client.post(hpas('v2'), body)).status, 201);
    const old = await client.get(`${hpas('v1')}/shared`);
    assert.equal(old.body.apiVersion, 'autoscaling/v1');
    old.body.spec.maxReplicas = 4;
    const put = await client.put(`${hpas('v1')}/shared`, old.body);
    assert.equal(put.status, 200);
    const { body: now } = await client.get(`${hpas('v2')}/shared`);
    assert.deepEqual(now.spec, { ...body.spec, minReplicas: 1, maxReplicas: 4 });
    assert.equal(now.metadata.resourceVersion, put.body.metadata.resourceVersion);
    const { body: list } = await client.get(hpas('v2beta2'));
    assert.equal(list.apiVersion, 'autoscaling/v2beta2');
    assert.equal(list.items.length, 1);
  });

  it('is watched in each', async () => {
    const { body: list } = await client.get(hpas('v2'));
    const watch = await client.watch(`${hpas('v1')}?watch=1&resourceVersion=${list.metadata.resourceVersion}`);
    await client.post(hpas('v2'), { metadata: { name: 'watched' }, spec: { scaleTargetRef, maxReplicas: 3 } });
    const event = await watch.next();
    watch.close();
    assert.equal(event?.object.apiVersion, 'autoscaling/v1');
    assert.equal(event?.object.spec.targetCPUUtilizationPercentage, 80);
  });
});

describe('owners of fields', () => {
  const target = { 'f:scaleTargetRef': { 'f:apiVersion': {}, 'f:kind': {}, 'f:name': {} } };

  it('stay owners when another client writes another version', async () => {
    const spec = { scaleTargetRef, maxReplicas: 3, metrics: [memory] };
    const identity = { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'owned' } };
    assert.equal((await apply(`${hpas('v2')}/owned`, { ...identity, spec }, 'new')).status, 201);
    const patch = { spec: { maxReplicas: 5 } };
    assert.equal((await client.patch(`${hpas('v1')}/owned?fieldManager=old`, 'merge', patch)).status, 200);

    const owners = ownersOf(await client.get(`${hpas('v2')}/owned`));
    assert.deepEqual(Object.keys(owners), ['new Apply autoscaling/v2', 'old Update autoscaling/v1']);
    assert.deepEqual(owners['new Apply autoscaling/v2'], { 'f:spec': { 'f:metrics': {}, ...target } });
    assert.deepEqual(owners['old Update autoscaling/v1'], { 'f:spec': { 'f:maxReplicas': {} } });
  });

  it('lose fields that another version writes under another name', async () => {
    const spec = { targetCPUUtilizationPercentage: 33 };
    const answer = await client.patch(`${hpas('v1')}/owned?fieldManager=old`, 'merge', { spec });
    assert.equal(answer.status, 200);
    const owners = ownersOf(answer);
    // In v2 this is one more metric in the list of the other manager.
    assert.deepEqual(owners['new Apply autoscaling/v2'], { 'f:spec': target });
    const own = { 'f:maxReplicas': {}, 'f:targetCPUUtilizationPercentage': {} };
    assert.deepEqual(owners['old Update autoscaling/v1'], { 'f:spec': own });
  });

  it('are named in conflicts with another version', async () => {
    const identity = { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'owned' } };
    const cpu = {
      type: 'Resource',
      resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
    };
    const config = { ...identity, spec: { scaleTargetRef, maxReplicas: 7, metrics: [memory, cpu] } };
    const refused = await apply(`${hpas('v2')}/owned`, config, 'new');
    assert.equal(refused.status, 409);
    assert.match(refused.body.message, /conflicts? with "old" using autoscaling\/v1/);
    assert.deepEqual(
      refused.body.details.causes.map(({ field }: { field: string }) => field),
      ['.spec.maxReplicas', '.spec.targetCPUUtilizationPercentage'],
    );
    const forced = await apply(`${hpas('v2')}/owned`, config, 'new', true);
    assert.equal(forced.status, 200);
    assert.deepEqual(Object.keys(ownersOf(forced)), ['new Apply autoscaling/v2']);
  });

  it('survive an apply that leaves out what the other version needs', async () => {
    const identity = { kind: 'HorizontalPodAutoscaler', metadata: { name: 'bare' } };
    const spec = { scaleTargetRef, maxReplicas: 3 };
    await apply(`${hpas('v1')}/bare`, { ...identity, apiVersion: 'autoscaling/v1', spec }, 'one');
    await client.patch(`${hpas('v2')}/bare?fieldManager=two`, 'merge', { metadata: { labels: { a: 'b' } } });
    const answer = await apply(`${hpas('v1')}/bare`, { ...identity, apiVersion: 'autoscaling/v1' }, 'one');
    assert.equal(answer.status, 422, answer.text);
    const found = await client.get(`${hpas('v2')}/bare`);
    assert.deepEqual(Object.keys(ownersOf(found)), ['one Apply autoscaling/v1', 'two Update autoscaling/v2']);
  });

  it('are kept across groups that share objects', async () => {
    const core = '/api/v1/namespaces/default/events';
    const event = { metadata: { name: 'e' }, involvedObject: { namespace: 'default' }, reason: 'r', message: 'm' };
    assert.equal((await client.post(`${core}?fieldManager=core`, event)).status, 201);
    const path = '/apis/events.k8s.io/v1beta1/namespaces/default/events/e?fieldManager=other';
    assert.equal((await client.patch(path, 'merge', { note: 'changed' })).status, 200);
    const owners = ownersOf(await client.get(`${core}/e`));
    assert.deepEqual(Object.keys(owners).sort(), ['core Update v1', 'other Update events.k8s.io/v1beta1']);
    assert.deepEqual(owners['other Update events.k8s.io/v1beta1'], { 'f:note': {} });
    assert.equal(Object.hasOwn(owners['core Update v1'] as object, 'f:message'), false);
    assert.equal(Object.hasOwn(owners['core Update v1'] as object, 'f:reason'), true);
  });
});

describe('a deprecated version', () => {
  it('warns on every request, and is counted', async () => {
    const path = '/apis/policy/v1beta1/namespaces/default/poddisruptionbudgets';
    const text =
      'policy/v1beta1 PodDisruptionBudget is deprecated in v1.21+, unavailable in v1.25+; use policy/v1 PodDisruptionBudget';
    const answers = [
      await client.post(path, { metadata: { name: 'p' }, spec: { minAvailable: 1 } }),
      await client.get(`${path}/p`),
      await client.get(`${path}/p/status`),
      await client.get(path),
      await client.patch(`${path}/p`, 'merge', { metadata: { labels: { a: 'b' } } }),
      await client.delete(`${path}/p`),
      await client.get(`${path}/p`),
    ];
    assert.deepEqual(
      answers.map(({ status }) => status),
      [201, 200, 200, 200, 200, 200, 404],
    );
    for (const { headers } of answers) assert.equal(headers.warning, `299 - "${text}"`);
    const current = await client.get('/apis/policy/v1/namespaces/default/poddisruptionbudgets');
    assert.equal(current.headers.warning, undefined);

    const { text: metrics } = await client.get('/metrics');
    const counted = metrics.split('\n').filter((line) => /^apiserver_requested_deprecated_apis\{/.test(line));
    const labels = 'group="policy",version="v1beta1",resource="poddisruptionbudgets"';
    assert.ok(
      counted.includes(`apiserver_requested_deprecated_apis{${labels},subresource="",removed_release="1.25"} 1`),
    );
    assert.ok(counted.some((line) => line.includes('subresource="status"')));
    assert.ok(!counted.some((line) => line.includes('version="v1"')));
  });
});

describe('--runtime-config', () => {
  let server: TestServer;
  let partial: ApiClient;

  before(async () => {
    // The stored versions of two kinds are off, and one resource of a group that stays on.
    const config = ['autoscaling/v2=false', 'policy/v1=false', 'apps/v1/daemonsets=false', 'api/legacy=true'];
    // No general key switches on what the release no longer has.
    config.push('api/beta=true');
    const flags = [`--runtime-config=${config.join(',')}`, '--runtime-config=batch/v1beta1=false'];
    server = await cluster.addServer(undefined, flags);
    partial = server.client;
  });

  it('takes versions out of routes', async () => {
    for (const path of [
      hpas('v2'),
      '/apis/autoscaling/v2',
      '/apis/batch/v1beta1/cronjobs',
      '/apis/apps/v1/daemonsets',
    ]) {
      const answer = await partial.get(path);
      assert.equal(answer.status, 404, path);
      assert.equal((await client.get(path)).status, 200, path);
    }
    const post = await partial.post(hpas('v2'), { metadata: { name: 'x' }, spec: { scaleTargetRef, maxReplicas: 3 } });
    assert.equal(post.status, 404);
    assert.equal((await partial.get('/apis/apps/v1/deployments')).status, 200);
  });

  it('takes versions out of discovery', async () => {
    const versionsOf = async (group: string) =>
      (await partial.get(`/apis/${group}`)).body.versions.map(({ version }: { version: string }) => version);
    assert.deepEqual(await versionsOf('autoscaling'), ['v1', 'v2beta1', 'v2beta2']);
    assert.deepEqual(await versionsOf('batch'), ['v1']);
    assert.deepEqual(await versionsOf('policy'), ['v1beta1']);
    assert.deepEqual(await versionsOf('certificates.k8s.io'), ['v1', 'v1beta1']);
    assert.deepEqual(await versionsOf('discovery.k8s.io'), ['v1']);
    assert.equal((await partial.get('/apis/discovery.k8s.io/v1beta1')).status, 404);
    const { body } = await partial.get('/apis/apps/v1');
    const names: string[] = body.resources.map(({ name }: { name: string }) => name);
    assert.ok(names.includes('deployments'));
    assert.ok(!names.some((name) => name.startsWith('daemonsets')));
    const headers = { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' };
    const aggregated = JSON.stringify((await partial.get('/apis', { headers })).body);
    assert.ok(aggregated.includes('"deployments"'));
    assert.ok(!aggregated.includes('"daemonsets"'));
  });

  it('takes versions out of the OpenAPI documents', async () => {
    const { paths } = (await partial.get('/openapi/v2')).body;
    assert.ok(Object.hasOwn(paths, '/apis/autoscaling/v1/horizontalpodautoscalers'));
    assert.ok(!Object.keys(paths).some((path) => path.startsWith('/apis/autoscaling/v2/')));
    assert.ok(!Object.keys(paths).some((path) => path.startsWith('/apis/apps/v1/daemonsets')));
    const groups = (await partial.get('/openapi/v3')).body.paths;
    assert.ok(Object.hasOwn(groups, 'apis/autoscaling/v1'));
    assert.ok(!Object.hasOwn(groups, 'apis/autoscaling/v2'));
    assert.ok(!Object.hasOwn(groups, 'apis/policy/v1'));
  });

  it('keeps serving objects whose stored version is off', async () => {
    const body = { metadata: { name: 'reached' }, spec: { scaleTargetRef, maxReplicas: 3, metrics: [memory] } };
    assert.equal((await client.post(`${hpas('v2')}?fieldManager=new`, body)).status, 201);
    const patch = { spec: { minReplicas: 2 } };
    const patched = await partial.patch(`${hpas('v1')}/reached?fieldManager=old`, 'merge', patch);
    assert.equal(patched.status, 200);
    const answer = await client.get(`${hpas('v2')}/reached`);
    assert.deepEqual(answer.body.spec, { ...body.spec, minReplicas: 2 });
    assert.deepEqual(Object.keys(ownersOf(answer)), ['new Update autoscaling/v2', 'old Update autoscaling/v1']);
  });

  it('says that a key has no effect any more', () => {
    assert.match(server.log, /--runtime-config: api\/legacy is deprecated since release \d/);
    assert.doesNotMatch(cluster.first.log, /runtime-config/);
  });

  it('ends the start when a key names nothing', async () => {
    const { certificateFile, privateKeyFile } = cluster.pki.serving;
    const child = spawn(
      process.execPath,
      [
        mainFile,
        'serve',
        `--secure-port=${await freePort()}`,
        `--tls-cert-file=${certificateFile}`,
        `--tls-private-key-file=${privateKeyFile}`,
        '--runtime-config=apps/v9,extensions/v1beta1=false,v1',
      ],
      { env: { ...process.env, PLINTH_DATABASE_URL: cluster.databaseUrl }, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => {
      errors += chunk.toString('utf8');
    });
    const [code] = await once(child, 'close');
    assert.equal(code, 2, errors);
    for (const key of ['apps/v9', 'extensions/v1beta1']) {
      assert.ok(errors.includes(`plinth: --runtime-config ${key}: no such version or resource\n`), errors);
    }
  });
});
