import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TestCluster, tokens } from './support/test-cluster.js';

let cluster: TestCluster;
before(async () => {
  cluster = await TestCluster.start({ servers: 1, flags: ['--authorization-mode=RBAC'] });
});
after(() => cluster.stop());

const configMaps = '/api/v1/namespaces/default/configmaps';
const pods = '/api/v1/namespaces/default/pods';
const services = '/api/v1/namespaces/default/services';
const table = 'application/json;as=Table;g=meta.k8s.io;v=v1';
const megabyte = 'x'.repeat(1_000_000);

describe('an object of a megabyte', () => {
  it('is created, read, changed and deleted as any other', async () => {
    const { client } = cluster.first;
    const large = { metadata: { name: 'large', labels: { app: 'a' } }, data: { text: megabyte } };
    const made = await client.post(configMaps, large, { headers: { 'user-agent': 'tool/1' } });
    assert.equal(made.status, 201, made.text.slice(0, 300));
    assert.equal(made.body.metadata.managedFields[0].manager, 'tool');
    const read = await client.get(`${configMaps}/large`);
    assert.deepEqual(read.body, made.body);

    const twice = await client.post(configMaps, { metadata: { name: 'large' } });
    assert.equal(twice.status, 409);
    assert.equal(twice.body.message, 'configmaps "large" already exists');

    const changed = await client.put(`${configMaps}/large`, { ...read.body, data: { text: megabyte, more: 'x' } });
    assert.equal(changed.status, 200);
    assert.ok(BigInt(changed.body.metadata.resourceVersion) > BigInt(made.body.metadata.resourceVersion));
    const late = await client.put(`${configMaps}/large`, read.body);
    assert.equal(late.status, 409);

    for (const type of ['merge', 'strategic-merge']) {
      const patched = await client.patch(`${configMaps}/large`, type, { data: { more: type } });
      assert.equal(patched.status, 200);
      assert.equal(patched.body.data.more, type);
    }
    const steps = [{ op: 'add', path: '/data/added', value: 'y' }];
    assert.equal((await client.patch(`${configMaps}/large`, 'json', steps)).body.data.added, 'y');
    const applied = await client.send('PATCH', `${configMaps}/large?fieldManager=applier`, {
      body: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'large' }, data: { more: 'mine' } },
      contentType: 'application/apply-patch+yaml',
    });
    assert.equal(applied.status, 409);
    assert.match(applied.body.message, /^Apply failed with 1 conflict: .*\.data\.more$/);

    const shown = await client.get(`${configMaps}/large`, { headers: { accept: table } });
    assert.deepEqual(shown.body.rows[0].cells.slice(0, 2), ['large', 3]);
    const indented = await client.get(`${configMaps}/large?pretty=true`);
    assert.match(indented.text, /^\{\n {2}"kind": "ConfigMap",\n/);
    const asYaml = await client.get(`${configMaps}/large`, { headers: { accept: 'application/yaml' } });
    assert.match(asYaml.text, /\nkind: ConfigMap\n/);

    assert.equal((await client.delete(`${configMaps}/large?dryRun=All`)).status, 200);
    assert.equal((await client.delete(`${configMaps}/large`)).status, 200);
    assert.equal((await client.get(`${configMaps}/large`)).status, 404);
  });

  it('meets the same rules', async () => {
    const { client } = cluster.first;
    const data = { text: megabyte };
    const invalid = await client.post(configMaps, { metadata: { name: 'bad', labels: { a: '-' } }, data });
    assert.equal(invalid.status, 422);
    assert.equal(invalid.body.details.causes[0].field, 'metadata.labels');
    const missing = await client.post('/api/v1/namespaces/none/configmaps', { metadata: { name: 'a' }, data });
    assert.equal(missing.status, 404);
    const forbidden = await client.post(configMaps, { metadata: { name: 'a' }, data }, { token: tokens.alice });
    assert.equal(forbidden.status, 403);
    const warned = await client.post(`${configMaps}?dryRun=All`, { metadata: { name: 'a' }, data, other: 1 });
    assert.equal(warned.status, 201);
    assert.match(String(warned.headers.warning), /unknown field/);
    assert.equal((await client.get(`${configMaps}/a`)).status, 404);
    const broken = await client.post(configMaps, undefined, { raw: `{"data":{"text":"${megabyte}"}` });
    assert.equal(broken.status, 400);
    const tooLong = await client.post(configMaps, undefined, { raw: `{"x":"${'x'.repeat(3 * 2 ** 20)}"}` });
    assert.equal(tooLong.status, 413);
  });

  it('is deleted with its collection', async () => {
    const { client } = cluster.first;
    for (const name of ['first', 'second']) {
      const made = await client.post(configMaps, {
        metadata: { name, labels: { go: 'away' } },
        data: { text: megabyte },
      });
      assert.equal(made.status, 201);
    }
    assert.equal((await client.delete(`${configMaps}?labelSelector=go%3Daway`)).status, 200);
    assert.deepEqual((await client.get(`${configMaps}?labelSelector=go`)).body.items, []);
  });
});

describe('an object of many parts', () => {
  it('is a pod with a thousand volumes', async () => {
    const { client } = cluster.first;
    const volumes = Array.from({ length: 1000 }, (_, i) => ({ name: `v${i}`, configMap: { name: `c${i}` } }));
    const volumeMounts = volumes.map(({ name }) => ({ name, mountPath: `/${name}` }));
    const spec = { containers: [{ name: 'c', image: 'i', volumeMounts }], volumes };
    const made = await client.post(pods, { metadata: { name: 'volumes' }, spec });
    assert.equal(made.status, 201, made.text.slice(0, 300));
    const image = { spec: { containers: [{ name: 'c', image: 'other' }] } };
    const patched = await client.patch(`${pods}/volumes`, 'strategic-merge', image);
    assert.equal(patched.status, 200, patched.text.slice(0, 300));
    assert.equal(patched.body.spec.volumes.length, 1000);
    assert.equal(patched.body.spec.containers[0].volumeMounts.length, 1000);
  });

  it('takes addresses and ports of the process', async () => {
    const { client } = cluster.first;
    const annotations = { text: 'x'.repeat(100_000) };
    const made = await client.post(services, { metadata: { name: 's', annotations }, spec: { ports: [{ port: 1 }] } });
    assert.equal(made.status, 201, made.text.slice(0, 300));
    const { clusterIP } = made.body.spec;
    assert.match(clusterIP, /^10\.0\./);
    const other = { metadata: { name: 'other', annotations }, spec: { clusterIP, ports: [{ port: 1 }] } };
    const taken = await client.post(services, other);
    assert.equal(taken.status, 422);
    assert.match(taken.body.message, /provided IP is already allocated/);
  });

  it('does not let a writer of roles exceed what he has', async () => {
    const { client } = cluster.first;
    const group = '/apis/rbac.authorization.k8s.io/v1';
    const rule = { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'], verbs: ['create'] };
    await client.post(`${group}/clusterroles`, { metadata: { name: 'author' }, rules: [rule] });
    await client.post(`${group}/clusterrolebindings`, {
      metadata: { name: 'author' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'author' },
      subjects: [{ kind: 'User', name: 'alice', apiGroup: 'rbac.authorization.k8s.io' }],
    });
    const annotations = { text: 'x'.repeat(100_000) };
    const path = `${group}/namespaces/default/roles`;
    const send = (name: string, rules: unknown) =>
      client.post(path, { metadata: { name, annotations }, rules }, { token: tokens.alice });
    const refused = await send('more', [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }]);
    assert.equal(refused.status, 403);
    assert.match(refused.body.message, /attempting to grant RBAC permissions not currently held/);
    assert.equal((await send('same', [rule])).status, 201);
  });
});
