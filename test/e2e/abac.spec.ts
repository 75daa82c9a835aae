import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { ApiClient } from './support/api-client.js';
import { TestCluster, tokens } from './support/test-cluster.js';

const apiVersion = 'abac.authorization.k8s.io/v1beta1';

let directory: string;
let cluster: TestCluster;
let client: ApiClient;

function policy(spec: object): string {
  return JSON.stringify({ apiVersion, kind: 'Policy', spec });
}

before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'plinth-abac-'));
  const file = join(directory, 'policy.jsonl');
  const lines = [
    '# who may do what',
    '',
    policy({ user: 'alice', namespace: '*', resource: 'configmaps', apiGroup: '' }),
    policy({ group: 'devs', namespace: 'default', resource: 'secrets', readonly: true }),
    policy({ user: 'bob', nonResourcePath: '/public/*' }),
    policy({ group: 'system:authenticated', readonly: true, nonResourcePath: '/api' }),
    policy({ user: '*', resource: 'selfsubjectrulesreviews', apiGroup: 'authorization.k8s.io' }),
  ];
  writeFileSync(file, lines.join('\n'));
  cluster = await TestCluster.start({
    servers: 1,
    flags: ['--authorization-mode=ABAC', `--authorization-policy-file=${file}`],
  });
  client = cluster.first.client;
});

after(async () => {
  await cluster?.stop();
  rmSync(directory, { recursive: true, force: true });
});

async function statusOf(path: string, token: string): Promise<number> {
  return (await client.get(path, { token })).status;
}

/** The response to a path that is sent unchanged, because a URL object would normalise it. */
function statusOfRaw(path: string, token: string): Promise<number> {
  const { hostname, port } = new URL(client.url);
  const headers = { authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    const options = { hostname, port, path, headers, ca: cluster.pki.authority, agent: false as const };
    const sent = request(options, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('error', reject);
    sent.end();
  });
}

describe('the mode ABAC', () => {
  it('allows only requests that match a line of the file', async () => {
    const { alice, bob } = tokens;
    assert.equal(await statusOf('/api/v1/namespaces/default/configmaps', alice), 200);
    assert.equal(await statusOf('/api/v1/configmaps', alice), 200);
    assert.equal(await statusOf('/api/v1/namespaces/default/configmaps', bob), 403);
    assert.equal(await statusOf('/api/v1/namespaces/default/secrets', alice), 200);
    assert.equal(await statusOf('/api/v1/namespaces/other/secrets', alice), 403);
    assert.equal(await statusOf('/api/v1/secrets', alice), 403);
    assert.equal(await statusOf('/api', bob), 200);
    assert.equal(await statusOf('/apis', bob), 403);
    const body = { metadata: { name: 'x' } };
    const written = await client.post('/api/v1/namespaces/default/secrets', body, { token: alice });
    assert.equal(written.status, 403);
    assert.match(written.body.message, /in the namespace "default": abac: No policy matched\.$/);
    assert.equal((await client.post('/api/v1/namespaces/default/configmaps', body, { token: alice })).status, 201);
  });

  it('is not misled by the spelling of a path', async () => {
    const { alice, bob } = tokens;
    // No path that begins with the allowed prefix leads anywhere else.
    for (const path of ['/public/../api/v1/secrets', '/public/..%2f..%2fapi/v1/secrets', '/public//api/v1/secrets']) {
      assert.equal(await statusOfRaw(path, bob), 404, path);
    }
    const refused = ['/PUBLIC/x', '/%70ublic/x', '/public', '//public/x', '/api/v1/../../public/x', '/./public/x'];
    for (const path of refused) assert.equal(await statusOfRaw(path, bob), 403, path);
    // Resources are recognized in every spelling of their path.
    for (const path of [
      '/api/v1/namespaces/default/%73ecrets/x',
      '/api/v1/namespaces/other/configmaps/../secrets',
      '/api/v1/namespaces/other//secrets',
      '/api/v1/namespaces/other/secrets?configmaps',
      '/api/v1/watch/namespaces/other/secrets',
    ]) {
      assert.equal(await statusOfRaw(path, bob), 403, path);
    }
    assert.equal(await statusOfRaw('/api/v1/namespaces/other/%73ecrets', alice), 403);
    assert.equal(await statusOfRaw('/api/v1/namespaces/default%2f..%2fother/secrets', alice), 403);
  });

  it('never locks administrators out, and lists its rules', async () => {
    assert.equal(await statusOf('/api/v1/nodes', tokens.admin), 200);
    const answer = await client.post(
      '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
      { spec: { namespace: 'default' } },
      { token: tokens.alice },
    );
    assert.equal(answer.status, 201, answer.text);
    assert.deepEqual(answer.body.status, {
      resourceRules: [
        { verbs: ['*'], apiGroups: [''], resources: ['configmaps'] },
        { verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['secrets'] },
      ],
      nonResourceRules: [{ verbs: ['get', 'list', 'watch'], nonResourceURLs: ['/api'] }],
      incomplete: false,
    });
  });

  it('refuses to start with an unusable line', async () => {
    const file = join(directory, 'broken.jsonl');
    writeFileSync(file, `${policy({ user: 'a', resource: '*' })}\n# fine\n{"spec":`);
    const started = cluster.addServer(undefined, [`--authorization-policy-file=${file}`]);
    await assert.rejects(started, /broken\.jsonl, line 3: is not JSON/);
  });
});

describe('the modes ABAC and RBAC together', () => {
  it('make no administrator of a user who may write cluster-scoped objects', async () => {
    const file = join(directory, 'cluster-scoped.jsonl');
    writeFileSync(file, policy({ user: 'bob', resource: '*', apiGroup: '*' }));
    const flags = ['--authorization-mode=RBAC', `--authorization-policy-file=${file}`];
    const server = await cluster.addServer(undefined, flags);
    const as = { token: tokens.bob };
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    const metadata = { name: 'abac-escalation' };
    const send = (resource: string, body: object) =>
      server.client.post(`${rbac}/${resource}`, { metadata, ...body }, as);
    const rules = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];
    const role = await send('clusterroles', { rules });
    assert.equal(role.status, 403, role.text);
    assert.match(role.body.message, /not currently held/);
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' };
    const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'bob' }];
    assert.equal((await send('clusterrolebindings', { roleRef, subjects })).status, 403);
    const headers = { 'Impersonate-User': 'admin', 'Impersonate-Group': 'system:masters' };
    assert.equal((await server.client.get('/api/v1/secrets', { ...as, headers })).status, 403);
    // The rights of the line stay in force.
    assert.equal((await server.client.post('/api/v1/namespaces', { metadata }, as)).status, 201);
  });
});
