import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ApiClient, ApiResponse } from './support/api-client.js';
import { eventually, TestCluster } from './support/test-cluster.js';

const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount';

let cluster: TestCluster;
let client: ApiClient;
let other: ApiClient;
let namespaces = 0;

before(async () => {
  cluster = await TestCluster.start({
    servers: 2,
    controllers: true,
    // Nobody else writes to the pods.
    controllerFlags: ['--controllers=*,-scheduler'],
  });
  client = cluster.first.client;
  other = cluster.second.client;
});
after(() => cluster.stop());

async function made(path: string, body: unknown, by: ApiClient = client): Promise<ApiResponse> {
  const answer = await by.post(path, body);
  assert.equal(answer.status, 201, answer.text);
  return answer;
}

async function namespace(): Promise<string> {
  const name = `accounts-${++namespaces}`;
  await made('/api/v1/namespaces', { metadata: { name } });
  return `/api/v1/namespaces/${name}`;
}

function pod(name: string, spec: object = {}) {
  return { metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } };
}

describe('service accounts of pods', () => {
  it('are there for pods that follow their namespace at once', async () => {
    const path = await namespace();
    const { body } = await made(`${path}/pods`, pod('a', { initContainers: [{ name: 'i', image: 'i' }] }), other);
    assert.deepEqual([body.spec.serviceAccountName, body.spec.serviceAccount], ['default', 'default']);
    const [volume] = body.spec.volumes;
    assert.match(volume.name, /^control-api-access-[a-z0-9]{5}$/);
    assert.deepEqual(volume.projected, {
      sources: [
        { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
        { configMap: { name: 'control-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        {
          downwardAPI: {
            items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
          },
        },
      ],
      defaultMode: 420,
    });
    for (const [container] of [body.spec.containers, body.spec.initContainers]) {
      assert.deepEqual(container.volumeMounts, [{ name: volume.name, readOnly: true, mountPath }]);
    }
    const stored = (await client.get(`${path}/pods/a`)).body;
    assert.deepEqual(stored.spec, body.spec);
    const unchanged = await client.put(`${path}/pods/a`, stored);
    assert.equal(unchanged.body.metadata.resourceVersion, stored.metadata.resourceVersion);
  });

  it('must exist, and are found by every server as soon as they do', async () => {
    const path = await namespace();
    for (let i = 0; i < 5; i++) {
      const name = `fresh-${i}`;
      await made(`${path}/serviceaccounts`, { metadata: { name } }, i % 2 === 0 ? client : other);
      await made(`${path}/pods`, pod(name, { serviceAccountName: name }), i % 2 === 0 ? other : client);
    }
    for (const query of ['', '?dryRun=All']) {
      const refused = await client.post(`${path}/pods${query}`, pod('x', { serviceAccountName: 'none' }));
      assert.equal(refused.status, 403);
      const account = `${path.split('/').at(-1)}/none`;
      const detail = `error looking up service account ${account}: serviceaccount "none" not found`;
      assert.equal(refused.body.message, `pods "x" is forbidden: ${detail}`);
    }
    assert.equal((await client.delete(`${path}/serviceaccounts/fresh-0`)).status, 200);
    const isRefused = async () =>
      (await other.post(`${path}/pods?dryRun=All`, pod('y', { serviceAccountName: 'fresh-0' }))).status === 403;
    await eventually(isRefused, 'the end of the account');
  });

  it('give their pods pull secrets and a token, or none', async () => {
    const path = await namespace();
    await made(`${path}/serviceaccounts`, {
      metadata: { name: 'pulling' },
      imagePullSecrets: [{ name: 'registry' }],
      automountServiceAccountToken: false,
    });
    const silent = (await made(`${path}/pods`, pod('silent', { serviceAccountName: 'pulling' }))).body.spec;
    assert.deepEqual([silent.imagePullSecrets, silent.volumes], [[{ name: 'registry' }], undefined]);
    const wish = {
      serviceAccountName: 'pulling',
      automountServiceAccountToken: true,
      imagePullSecrets: [{ name: 'own' }],
    };
    const wishing = (await made(`${path}/pods`, pod('wishing', wish))).body.spec;
    assert.deepEqual([wishing.imagePullSecrets, wishing.volumes.length], [[{ name: 'own' }], 1]);
    const own = {
      containers: [{ name: 'c', image: 'i', volumeMounts: [{ name: 'e', mountPath }] }],
      volumes: [{ name: 'e', emptyDir: {} }],
    };
    assert.equal((await made(`${path}/pods`, pod('own', own))).body.spec.volumes.length, 1);
  });

  it('can limit the secrets of their pods, those of ephemeral containers too', async () => {
    const path = await namespace();
    const annotations = { 'kubernetes.io/enforce-mountable-secrets': 'true' };
    await made(`${path}/serviceaccounts`, { metadata: { name: 'limited', annotations }, secrets: [{ name: 'ok' }] });
    const env = (name: string) => [{ name: 'E', valueFrom: { secretKeyRef: { name, key: 'k' } } }];
    const create = (name: string, secret: string) =>
      client.post(
        `${path}/pods`,
        pod(name, { serviceAccountName: 'limited', containers: [{ name: 'c', image: 'i', env: env(secret) }] }),
      );
    assert.equal((await create('a', 'ok')).status, 201);
    const refused = await create('b', 'other');
    assert.equal(refused.status, 403);
    assert.match(
      refused.body.message,
      /container c with envVar E referencing secret.secretName="other" is not allowed/,
    );
    const debug = (name: string) => ({ spec: { ephemeralContainers: [{ name: 'e', image: 'i', env: env(name) }] } });
    const add = (name: string) => other.patch(`${path}/pods/a/ephemeralcontainers`, 'strategic-merge', debug(name));
    assert.equal((await add('other')).status, 403);
    assert.equal((await add('ok')).status, 200);
  });

  it('are not for mirror pods', async () => {
    const path = await namespace();
    const mirror = (spec: object) => {
      const { metadata, ...rest } = pod('mirror', { nodeName: 'n', ...spec });
      return { ...rest, metadata: { ...metadata, annotations: { 'kubernetes.io/config.mirror': 'x' } } };
    };
    const refused = await client.post(`${path}/pods`, mirror({ serviceAccountName: 'default' }));
    assert.equal(refused.body.message, 'pods "mirror" is forbidden: a mirror pod may not reference service accounts');
    const { spec } = (await made(`${path}/pods`, mirror({}))).body;
    assert.deepEqual([spec.serviceAccountName, spec.volumes], [undefined, undefined]);
  });
});
