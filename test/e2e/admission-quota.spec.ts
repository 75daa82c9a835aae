import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { ApiResponse } from './support/api-client.js';
import { sharedCluster } from './support/shared-cluster.js';
import { eventually, type TestCluster, type TestServer } from './support/test-cluster.js';

let cluster: TestCluster;
let servers: readonly [TestServer, TestServer];
let count = 0;
let namespace: string;

before(async () => {
  cluster = await sharedCluster('loops');
  servers = [cluster.first, cluster.second];
});
after(() => cluster?.stop());
beforeEach(async () => {
  namespace = `quota-${++count}`;
  assert.equal((await cluster.first.client.post('/api/v1/namespaces', { metadata: { name: namespace } })).status, 201);
  // Pods need the default account, and the ConfigMap that a control loop creates counts as well.
  for (const { client } of servers) {
    await eventually(async () => {
      const found = await client.get(`${path('serviceaccounts')}?resourceVersion=0`);
      return found.body.items.length > 0;
    }, 'a default account');
  }
});

const path = (resource: string) => `/api/v1/namespaces/${namespace}/${resource}`;

/** Creates a quota, and waits until all servers enforce it. */
async function makeQuota(name: string, hard: Record<string, string>, spec: object = {}): Promise<void> {
  const made = await cluster.first.client.post(path('resourcequotas'), { metadata: { name }, spec: { hard, ...spec } });
  assert.equal(made.status, 201, made.text);
  assert.deepEqual(made.body.status, {});
  for (const { client } of servers) {
    await eventually(async () => {
      const { body } = await client.get(`${path('resourcequotas')}?resourceVersion=0`);
      return body.items.some((item: { metadata: { name: string }; status: { hard?: object } }) => {
        return item.metadata.name === name && item.status.hard !== undefined;
      });
    }, 'a counted quota');
  }
}

const used = async (name = 'q'): Promise<Record<string, string>> =>
  (await cluster.first.client.get(`${path('resourcequotas')}/${name}`)).body.status.used;

const becomes = (expected: Record<string, string>, name = 'q') =>
  eventually(
    async () => {
      const found = await used(name);
      return Object.entries(expected).every(([resource, amount]) => found[resource] === amount);
    },
    `usage of ${JSON.stringify(expected)}`,
  );

const configMap = (name: string, server = cluster.first): Promise<ApiResponse> =>
  server.client.post(path('configmaps'), { metadata: { name } });

const pod = (name: string, cpu: string, server = cluster.first): Promise<ApiResponse> =>
  server.client.post(path('pods'), {
    metadata: { name },
    spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu } } }] },
  });

describe('quotas', () => {
  it('are filled to the last by two servers at once, and not beyond', async () => {
    await makeQuota('q', { 'count/configmaps': '40', pods: '15', 'requests.cpu': '1' });
    const begun = Number((await used())['count/configmaps']);
    const answers = await Promise.all(
      Array.from({ length: 80 }, (_, i) => configMap(`m${i}`, servers[i % 2] as TestServer)),
    );
    const made = answers.filter(({ status }) => status === 201).length;
    assert.equal(made + begun, 40);
    for (const { status, body } of answers) {
      if (status === 201) continue;
      assert.equal(status, 403);
      assert.match(
        body.message,
        /exceeded quota: q, requested: count\/configmaps=1, used: count\/configmaps=40, limited/,
      );
    }
    const pods = await Promise.all(
      Array.from({ length: 30 }, (_, i) => pod(`p${i}`, i % 3 === 0 ? '100m' : '50m', servers[i % 2] as TestServer)),
    );
    const fitted = pods.filter(({ status }) => status === 201);
    const cpu = fitted.reduce((sum, { body }) => {
      return sum + Number.parseInt(body.spec.containers[0].resources.requests.cpu, 10);
    }, 0);
    const now = await used();
    assert.equal(now['count/configmaps'], '40');
    assert.equal(now.pods, String(fitted.length));
    assert.ok(fitted.length <= 15 && cpu <= 1000 && (fitted.length === 15 || cpu > 900), `${fitted.length} ${cpu}`);
    assert.equal(now['requests.cpu'], cpu === 1000 ? '1' : `${cpu}m`);
  });

  it('are free again after deletions and for pods that have ended', async () => {
    await makeQuota('q', { pods: '2', 'requests.cpu': '1' });
    for (const name of ['a', 'b']) assert.equal((await pod(name, '500m')).status, 201);
    assert.equal((await pod('c', '1m', cluster.second)).status, 403);
    await cluster.first.client.delete(`${path('pods')}/a`);
    await becomes({ pods: '1', 'requests.cpu': '500m' });
    await cluster.second.client.patch(`${path('pods')}/b/status`, 'merge', { status: { phase: 'Succeeded' } });
    await becomes({ pods: '0', 'requests.cpu': '0' });
    assert.equal((await pod('c', '1', cluster.second)).status, 201);
  });

  it('have to have room for pods that come back to life, and for claims that grow by their status', async () => {
    await makeQuota('q', { pods: '1', 'requests.storage': '2Gi' });
    assert.equal((await pod('a', '1m')).status, 201);
    const report = (name: string, phase: string, server: TestServer) =>
      server.client.patch(`${path('pods')}/${name}/status`, 'merge', { status: { phase } });
    assert.equal((await report('a', 'Succeeded', cluster.second)).status, 200);
    await becomes({ pods: '0' });
    assert.equal((await pod('b', '1m')).status, 201);
    const revived = await report('a', 'Running', cluster.second);
    assert.equal(revived.status, 403);
    assert.match(revived.body.message, /^pods "a" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1,/);
    assert.equal((await report('b', 'Failed', cluster.first)).status, 200);
    await becomes({ pods: '0' });
    assert.equal((await report('a', 'Running', cluster.second)).status, 200);
    assert.equal((await used()).pods, '1');

    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    const claim = await cluster.first.client.post(path('persistentvolumeclaims'), { metadata: { name: 'c' }, spec });
    assert.equal(claim.status, 201, claim.text);
    const allocate = (storage: string) =>
      cluster.second.client.patch(`${path('persistentvolumeclaims')}/c/status`, 'merge', {
        status: { allocatedResources: { storage } },
      });
    assert.equal((await allocate('3Gi')).status, 403);
    assert.equal((await allocate('2Gi')).status, 200);
    assert.equal((await used())['requests.storage'], '2Gi');
  });

  it('are charged once, whatever becomes of the write', async () => {
    await makeQuota('q', { 'count/configmaps': '100', services: '3', 'services.nodeports': '1' });
    const before = Number((await used())['count/configmaps']);
    const { client } = cluster.first;
    assert.equal((await configMap('a')).status, 201);
    const attempts = [
      await configMap('a'),
      await configMap('Not_A_Name'),
      await client.post(`${path('configmaps')}?dryRun=All`, { metadata: { name: 'dry' } }),
      await client.patch(`${path('configmaps')}/a`, 'merge', { data: { a: 'b' } }),
      await client.put(`${path('configmaps')}/b`, { metadata: { name: 'b' } }),
    ];
    assert.deepEqual(
      attempts.map(({ status }) => status),
      [409, 422, 201, 200, 404],
    );
    assert.equal((await used())['count/configmaps'], String(before + 1));
    const applied = await client.send('PATCH', `${path('configmaps')}/c?fieldManager=m`, {
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } },
      contentType: 'application/apply-patch+yaml',
    });
    assert.equal(applied.status, 201);
    const generated = await client.post(path('configmaps'), { metadata: { generateName: 'g-' } });
    assert.equal(generated.status, 201);
    assert.equal((await used())['count/configmaps'], String(before + 3));

    // Updates that use more are charged, and refused above the quota.
    const service = { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } };
    assert.equal((await client.post(path('services'), service)).status, 201);
    const change = (type: string, server: TestServer) =>
      server.client.patch(`${path('services')}/s`, 'merge', { spec: { type } });
    assert.equal((await change('NodePort', cluster.second)).status, 200);
    assert.equal((await used())['services.nodeports'], '1');
    assert.equal((await change('LoadBalancer', cluster.first)).status, 200);
    const other = { ...service, metadata: { name: 't' }, spec: { ...service.spec, type: 'NodePort' } };
    const refused = await client.post(path('services'), other);
    assert.equal(refused.status, 403);
    assert.match(
      refused.body.message,
      /^services "t" is forbidden: exceeded quota: q, requested: services.nodeports=1,/,
    );
    assert.equal((await change('ClusterIP', cluster.first)).status, 200);
    await becomes({ 'services.nodeports': '0', services: '1' });
    assert.equal((await cluster.second.client.post(path('services'), other)).status, 201);
  });

  it('count what was there before them, and obey a new limit at once', async () => {
    for (const name of ['a', 'b', 'c']) assert.equal((await pod(name, '1m')).status, 201);
    await makeQuota('q', { pods: '4' });
    assert.deepEqual(await used(), { pods: '3' });
    assert.equal((await pod('d', '1m', cluster.second)).status, 201);
    assert.equal((await pod('e', '1m', cluster.second)).status, 403);
    await cluster.first.client.patch(`${path('resourcequotas')}/q`, 'merge', { spec: { hard: { pods: '5' } } });
    await eventually(async () => (await pod('e', '1m', cluster.second)).status === 201, 'room for another pod');
    await cluster.first.client.delete(`${path('resourcequotas')}/q`);
    await eventually(async () => (await pod('f', '1m', cluster.second)).status === 201, 'no quota');
  });

  it('demand amounts of pods in their scopes', async () => {
    await makeQuota('q', { 'requests.cpu': '1', pods: '1' }, { scopes: ['NotTerminating'] });
    const bare = (more: object = {}) =>
      cluster.second.client.post(path('pods'), {
        metadata: { generateName: 'p-' },
        spec: { containers: [{ name: 'c', image: 'i' }], ...more },
      });
    const refused = await bare();
    assert.equal(refused.status, 403);
    assert.match(refused.body.message, /is forbidden: failed quota: q: must specify requests.cpu for: /);
    const dry = await cluster.second.client.post(`${path('pods')}?dryRun=All`, {
      metadata: { name: 'x' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    });
    assert.equal(dry.status, 403);
    assert.equal((await bare({ activeDeadlineSeconds: 60 })).status, 201);
    assert.deepEqual(await used(), { pods: '0', 'requests.cpu': '0' });
  });

  it('get their status back when somebody spoils it', async () => {
    await makeQuota('q', { pods: '1' });
    assert.equal((await pod('a', '1m')).status, 201);
    const spoiled = await cluster.second.client.patch(`${path('resourcequotas')}/q/status`, 'merge', {
      status: { used: { pods: '0' } },
    });
    assert.equal(spoiled.status, 200);
    await becomes({ pods: '1' });
  });

  it('hold for large objects, which another thread writes', async () => {
    await makeQuota('q', { 'count/configmaps': '4' });
    const remaining = 4 - Number((await used())['count/configmaps']);
    const large = (i: number) =>
      (servers[i % 2] as TestServer).client.post(path('configmaps'), {
        metadata: { name: `l${i}` },
        data: Object.fromEntries(Array.from({ length: 9000 }, (_, j) => [`key-${j}`, 'v'])),
      });
    const answers = await Promise.all([0, 1, 2, 3, 4, 5].map(large));
    assert.equal(answers.filter(({ status }) => status === 201).length, remaining);
    assert.equal(answers.filter(({ status }) => status === 403).length, 6 - remaining);
    assert.equal((await used())['count/configmaps'], '4');
  });
});

describe('resources that nobody may use without a quota', () => {
  let limited: TestServer;

  before(async () => {
    const file = join(cluster.directory, 'limited.yaml');
    const configuration = {
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'ResourceQuotaConfiguration',
      limitedResources: [
        { resource: 'persistentvolumeclaims', matchContains: ['gold.storageclass.storage.k8s.io/requests.storage'] },
        { apiGroup: '', resource: 'configmaps', matchContains: ['count/configmaps'] },
        {
          resource: 'pods',
          matchScopes: [{ scopeName: 'PriorityClass', operator: 'In', values: ['urgent'] }],
        },
      ],
    };
    const plugins = [{ name: 'ResourceQuota', configuration }];
    const admission = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AdmissionConfiguration', plugins };
    writeFileSync(file, JSON.stringify(admission));
    limited = await cluster.addServer(undefined, [`--admission-control-config-file=${file}`]);
    cluster.servers.splice(cluster.servers.indexOf(limited), 1);
    const made = await cluster.first.client.post('/apis/scheduling.k8s.io/v1/priorityclasses', {
      metadata: { name: 'urgent' },
      value: 5,
    });
    assert.equal(made.status, 201, made.text);
  });

  const refusal = (answer: ApiResponse, what: string) => {
    assert.equal(answer.status, 403, answer.text);
    assert.equal(answer.body.message.replace(/^.* is forbidden: /, ''), what);
  };

  it('are refused until there is one, and charged to it then', async () => {
    await eventually(
      async () => (await limited.client.get(path('serviceaccounts'))).body.items.length > 0,
      'an account',
    );
    refusal(await configMap('a', limited), 'insufficient quota to consume: count/configmaps');
    const claim = (storageClassName: string) =>
      limited.client.post(`${path('persistentvolumeclaims')}?dryRun=All`, {
        metadata: { name: 'c' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName },
      });
    refusal(await claim('gold'), 'insufficient quota to consume: gold.storageclass.storage.k8s.io/requests.storage');
    assert.equal((await claim('silver')).status, 201);
    const urgent = (name: string, priorityClassName?: string) =>
      limited.client.post(path('pods'), {
        metadata: { name },
        spec: { containers: [{ name: 'c', image: 'i' }], ...(priorityClassName && { priorityClassName }) },
      });
    refusal(await urgent('u', 'urgent'), 'insufficient quota to match these scopes: [{PriorityClass In [urgent]}]');
    assert.equal((await urgent('calm')).status, 201);

    await makeQuota('q', { 'count/configmaps': '10' });
    const scopeSelector = { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['urgent'] }] };
    await makeQuota('urgent', { pods: '1' }, { scopeSelector });
    await eventually(async () => (await configMap('a', limited)).status !== 403, 'a quota to charge');
    await eventually(async () => (await urgent('u', 'urgent')).status === 201, 'a quota for urgent pods');
    refusal(await urgent('v', 'urgent'), 'exceeded quota: urgent, requested: pods=1, used: pods=1, limited: pods=1');
    // Servers without the configuration have no further limits.
    assert.equal((await configMap('b')).status, 201);
  });
});

describe('limit ranges', () => {
  it('complete and bound pods on every server', async () => {
    const limits = [{ type: 'Container', default: { cpu: '1' }, defaultRequest: { cpu: '100m' }, max: { cpu: '2' } }];
    const made = await cluster.first.client.post(path('limitranges'), { metadata: { name: 'l' }, spec: { limits } });
    assert.equal(made.status, 201, made.text);
    const bare = (name: string, server: TestServer) =>
      server.client.post(path('pods'), { metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }] } });
    for (const [i, server] of servers.entries()) {
      await eventually(async () => {
        const { body } = await bare(`p${i}-${Date.now()}`, server);
        return body.spec.containers[0].resources.limits !== undefined;
      }, 'default limits');
    }
    const { body } = await bare('p', cluster.second);
    assert.deepEqual(body.spec.containers[0].resources, { limits: { cpu: '1' }, requests: { cpu: '100m' } });
    assert.match(
      Object.values(body.metadata.annotations).join(),
      /^LimitRanger plugin set: cpu request for container c; cpu limit for container c$/,
    );
    const large = await cluster.second.client.post(path('pods'), {
      metadata: { name: 'large' },
      spec: { containers: [{ name: 'c', image: 'i', resources: { limits: { cpu: '3' } } }] },
    });
    assert.equal(large.status, 403);
    assert.equal(large.body.message, 'pods "large" is forbidden: maximum cpu usage per Container is 2, but limit is 3');
  });
});
