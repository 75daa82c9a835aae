import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { ReviewWebhook } from '../support/review-webhook.js';
import type { ApiClient } from './support/api-client.js';
import { TestCluster, tokens } from './support/test-cluster.js';

let directory: string;
let webhook: ReviewWebhook;
let cluster: TestCluster;
let client: ApiClient;

before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'plinth-authz-webhook-'));
  webhook = await ReviewWebhook.start();
  const file = join(directory, 'webhook.yaml');
  const identity = await webhook.clientIdentity('plinth');
  const user = {
    'client-certificate-data': Buffer.from(identity.cert).toString('base64'),
    'client-key-data': Buffer.from(identity.key).toString('base64'),
  };
  writeFileSync(file, webhook.config(user));
  cluster = await TestCluster.start({
    servers: 1,
    flags: [
      '--authorization-mode=Webhook,RBAC',
      `--authorization-webhook-config-file=${file}`,
      '--authorization-webhook-version=v1',
    ],
  });
  client = cluster.first.client;
});

after(async () => {
  await cluster?.stop();
  await webhook?.stop();
  rmSync(directory, { recursive: true, force: true });
});

beforeEach(() => {
  webhook.received.length = 0;
});

function answer(status: object): void {
  webhook.answer = () => ({ body: { kind: 'SubjectAccessReview', apiVersion: 'authorization.k8s.io/v1', status } });
}

describe('the mode Webhook', () => {
  it('is asked with all attributes of the request', async () => {
    answer({ allowed: true });
    const headers = {
      'impersonate-user': 'carol',
      'impersonate-group': 'ops',
      'impersonate-extra-scope': 'one',
      'impersonate-uid': 'u-1',
    };
    const path = '/apis/apps/v1/namespaces/default/deployments/d/scale';
    assert.equal((await client.get(path, { headers })).status, 404);
    const [received] = webhook.received;
    assert.equal(received?.client, 'plinth');
    assert.deepEqual(received?.body, {
      kind: 'SubjectAccessReview',
      apiVersion: 'authorization.k8s.io/v1',
      metadata: {},
      spec: {
        resourceAttributes: {
          namespace: 'default',
          verb: 'get',
          group: 'apps',
          version: 'v1',
          resource: 'deployments',
          subresource: 'scale',
          name: 'd',
        },
        user: 'carol',
        groups: ['ops', 'system:authenticated'],
        extra: { scope: ['one'] },
        uid: 'u-1',
      },
      status: { allowed: false },
    });
    await client.get('/metrics', { token: tokens.bob });
    assert.deepEqual(webhook.received.at(-1)?.body.spec, {
      nonResourceAttributes: { path: '/metrics', verb: 'get' },
      user: 'bob',
      groups: ['system:authenticated'],
      uid: 'bob-uid',
    });
  });

  it('decides, and its denial is the last word', async () => {
    answer({ allowed: true });
    assert.equal((await client.get('/api/v1/configmaps', { token: tokens.bob })).status, 200);
    answer({ allowed: false, denied: true, reason: 'not today' });
    const denied = await client.get('/apis', { token: tokens.bob });
    assert.equal(denied.status, 403);
    assert.equal(denied.body.message, 'forbidden: User "bob" cannot get path "/apis": not today');
    // If the webhook has no opinion, the next module decides.
    answer({ allowed: false, reason: 'who knows' });
    assert.equal((await client.get('/api', { token: tokens.bob })).status, 200);
    const nobody = await client.get('/api/v1/services', { token: tokens.bob });
    assert.equal(nobody.status, 403);
    assert.match(nobody.body.message, /at the cluster scope: default: who knows$/);
  });

  it('keeps answers for the same user only', async () => {
    const secrets = '/api/v1/namespaces/default/secrets';
    webhook.answer = ({ body }) => ({
      body: { kind: 'SubjectAccessReview', status: { allowed: body.spec.user === 'alice' } },
    });
    for (let i = 0; i < 3; i++) {
      assert.equal((await client.get(secrets, { token: tokens.alice })).status, 200);
      assert.equal((await client.get(secrets, { token: tokens.bob })).status, 403);
    }
    assert.equal(webhook.received.length, 2);
    // The same name with other groups, extra fields or another path is another request.
    const as = (more: Record<string, string>) => ({ headers: { 'impersonate-user': 'alice', ...more } });
    const asked = async (path: string, more: Record<string, string>) => {
      const before = webhook.received.length;
      await client.get(path, as(more));
      return webhook.received.length - before;
    };
    assert.equal(await asked(secrets, {}), 1);
    assert.equal(await asked(secrets, { 'impersonate-group': 'a' }), 1);
    assert.equal(await asked(secrets, { 'impersonate-extra-a': 'b' }), 1);
    assert.equal(await asked(secrets, { 'impersonate-extra-a': 'b' }), 0);
    assert.equal(await asked(`${secrets}?watch=1&timeoutSeconds=1`, {}), 1);
    assert.equal(await asked('/api/v1/namespaces/default/secrets/x', {}), 1);
  });

  it('opens nothing while it is away', async () => {
    webhook.answer = () => ({ status: 400, body: 'no' });
    const path = '/api/v1/namespaces/default/endpoints';
    const failed = await client.get(path, { token: tokens.bob });
    assert.equal(failed.status, 500);
    assert.equal(failed.body.message, 'Internal error occurred: the authorization webhook did not answer');
    // Requests that another module allows are served, including those of administrators.
    assert.equal((await client.get('/version/', { token: tokens.bob })).status, 200);
    assert.equal((await client.get(path)).status, 200);
    for (const body of ['{', [], { kind: 'Status' }, { kind: 'SubjectAccessReview', status: { allowed: 'yes' } }]) {
      webhook.answer = () => ({ body });
      assert.equal((await client.get(path, { token: tokens.bob })).status, 500, JSON.stringify(body));
    }
    // Failures are not cached.
    answer({ allowed: true });
    assert.equal((await client.get(path, { token: tokens.bob })).status, 200);
  });

  it('says in a review that it could not be asked', async () => {
    webhook.answer = () => ({ status: 403, body: '' });
    const spec = { user: 'dave', resourceAttributes: { verb: 'get', resource: 'pods' } };
    const review = await client.post('/apis/authorization.k8s.io/v1/subjectaccessreviews', { spec });
    assert.equal(review.status, 201);
    assert.deepEqual(review.body.status, {
      allowed: false,
      evaluationError: 'Internal error occurred: the authorization webhook did not answer',
    });
    const path = '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews';
    const rules = await client.post(path, { spec: { namespace: 'default' } });
    assert.equal(rules.body.status.incomplete, true);
    assert.equal(rules.body.status.evaluationError, 'webhook authorizer does not support user rule resolution');
  });
});
