import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { formatKubeconfig } from '../../src/tools/cli/kubeconfig.js';
import type { ApiClient } from './support/api-client.js';
import { Kubectl } from './support/kubectl.js';
import { sharedCluster } from './support/shared-cluster.js';
import { type TestCluster, tokens } from './support/test-cluster.js';

const group = '/apis/authentication.k8s.io/v1';
const tokenReviews = `${group}/tokenreviews`;
const selfReviews = `${group}/selfsubjectreviews`;
const audience = 'https://kubernetes.default.svc';
const alice = { username: 'alice', uid: 'alice-uid', groups: ['devs', 'system:authenticated'] };

let cluster: TestCluster;
let admin: ApiClient;

before(async () => {
  cluster = await sharedCluster('rbac');
  admin = cluster.first.client;
});
after(() => cluster?.stop());

describe('token reviews', () => {
  it('say whose token it is', async () => {
    const { status, body } = await admin.post(tokenReviews, { spec: { token: tokens.alice } });
    assert.equal(status, 201);
    assert.deepEqual(body.status, { authenticated: true, user: alice, audiences: [audience] });
    assert.deepEqual([body.kind, body.apiVersion], ['TokenReview', 'authentication.k8s.io/v1']);
    const dry = await admin.post(`${tokenReviews}?dryRun=All`, { spec: { token: tokens.alice } });
    assert.deepEqual(dry.body.status, body.status);
  });

  it('name the fault of a token, and trust nothing in the question', async () => {
    const status = { authenticated: true, user: { username: 'admin' }, error: 'x' };
    const { body } = await admin.post(tokenReviews, { spec: { token: 'nonsense' }, status });
    assert.deepEqual(body.status, { user: {}, error: 'invalid bearer token' });
    const good = await admin.post(tokenReviews, { spec: { token: tokens.alice }, status });
    assert.deepEqual(good.body.status, { authenticated: true, user: alice, audiences: [audience] });
    for (const token of ['x'.repeat(100_000), 'ü'.repeat(100), ' ', 'a\nb', '\u0000']) {
      const odd = await admin.post(tokenReviews, { spec: { token } });
      assert.deepEqual([odd.status, odd.body.status.error], [201, 'invalid bearer token']);
    }
  });

  it('have no owners, whatever the question says', async () => {
    const fields = { operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} };
    const metadata = { managedFields: [{ manager: 'm', ...fields }] };
    const { status, body } = await admin.post(tokenReviews, { metadata, spec: { token: tokens.alice } });
    assert.equal(status, 201);
    assert.deepEqual(body.metadata, {});
  });

  it('are about certain audiences', async () => {
    const review = async (audiences: readonly string[]) =>
      (await admin.post(tokenReviews, { spec: { token: tokens.bob, audiences } })).body.status;
    assert.deepEqual((await review(['x', audience])).audiences, [audience]);
    assert.deepEqual(await review(['x']), { user: {}, error: 'invalid bearer token' });
  });

  it('are not about any number of audiences', async () => {
    const audiences = Array.from({ length: 10_001 }, (_, i) => `a${i}`);
    const { status, body } = await admin.post(tokenReviews, { spec: { token: tokens.alice, audiences } });
    assert.equal(status, 422);
    assert.match(String(body.message), /spec\.audiences: Too many: 10001: must have at most 10000 items/);
  });

  it('need a token', async () => {
    for (const body of [{}, { spec: {} }, { spec: { token: '' } }]) {
      const answer = await admin.post(tokenReviews, body);
      assert.equal(answer.status, 400);
      assert.equal(answer.body.message, 'token is required for TokenReview in authentication');
    }
    assert.equal((await admin.post(tokenReviews, { spec: { token: 5 } })).status, 400);
    assert.equal((await admin.post(tokenReviews, { kind: 'Pod', apiVersion: 'v1' })).status, 400);
  });

  it('are for users with the right', async () => {
    const { status, body } = await admin.post(tokenReviews, { spec: { token: 'x' } }, { token: tokens.alice });
    assert.equal(status, 403);
    assert.match(body.message, /cannot create resource "tokenreviews" in API group "authentication.k8s.io"/);
  });

  it('are not kept', async () => {
    assert.equal((await admin.send('GET', tokenReviews, {})).status, 405);
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const { status } = await admin.send(method, `${tokenReviews}/x`, method === 'PUT' ? { body: {} } : {});
      assert.equal(status, 404, method);
    }
  });

  it('can be found', async () => {
    const { body } = await admin.get(group);
    const found = body.resources.map(({ name, kind, namespaced, verbs }: Record<string, unknown>) => ({
      name,
      kind,
      namespaced,
      verbs,
    }));
    assert.deepEqual(found, [
      { name: 'selfsubjectreviews', kind: 'SelfSubjectReview', namespaced: false, verbs: ['create'] },
      { name: 'tokenreviews', kind: 'TokenReview', namespaced: false, verbs: ['create'] },
    ]);
    const openapi = (await admin.get('/openapi/v2')).body;
    assert.deepEqual(Object.keys(openapi.paths[tokenReviews]).sort(), ['parameters', 'post']);
  });
});

describe('self reviews', () => {
  it('show every authenticated user who they are', async () => {
    const { status, body } = await admin.post(selfReviews, {}, { token: tokens.alice });
    assert.equal(status, 201);
    assert.deepEqual(body.status, { userInfo: alice });
    const claimed = { status: { userInfo: { username: 'admin', groups: ['system:masters'] } } };
    assert.deepEqual((await admin.post(selfReviews, claimed, { token: tokens.alice })).body.status, {
      userInfo: alice,
    });
    const nobody = cluster.clientFor(cluster.first);
    try {
      assert.equal((await nobody.post(selfReviews, {})).status, 403);
    } finally {
      nobody.close();
    }
  });

  it('answer kubectl', () => {
    const path = join(cluster.directory, 'anonymous');
    writeFileSync(path, formatKubeconfig({ server: cluster.first.url, authority: cluster.pki.authority }));
    const answer = new Kubectl(path).ok(['auth', 'whoami', `--token=${tokens.alice}`]);
    assert.match(answer, /Username\s+alice/);
    assert.match(answer, /Groups\s+\[devs system:authenticated\]/);
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: tokens.bob } };
    const admins = new Kubectl(cluster.first.kubeconfig);
    const user = admins.ok(
      ['create', '--validate=false', '-f', '-', '-o', 'jsonpath={.status.user.username}'],
      JSON.stringify(review),
    );
    assert.equal(user, 'bob');
  });
});
