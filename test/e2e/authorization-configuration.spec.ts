import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { stringify } from 'yaml';
import { replaceFile } from '../support/replace-file.js';
import { ReviewWebhook } from '../support/review-webhook.js';
import { eventually, TestCluster, type TestServer, tokens } from './support/test-cluster.js';

// Two webhooks with conditions before RBAC, from a file that changes (`--authorization-config`).

let cluster: TestCluster;
let server: TestServer;
let strict: ReviewWebhook;
let lenient: ReviewWebhook;
let file: string;
const secrets = '/api/v1/namespaces/default/secrets';
const maps = '/api/v1/namespaces/default/configmaps';

before(async () => {
  cluster = await TestCluster.start({ servers: 0 });
  [strict, lenient] = await Promise.all([ReviewWebhook.start(), ReviewWebhook.start()]);
  for (const [name, webhook] of [
    ['strict', strict],
    ['lenient', lenient],
  ] as const) {
    const identity = await webhook.clientIdentity('plinth');
    const user = {
      'client-certificate-data': Buffer.from(identity.cert).toString('base64'),
      'client-key-data': Buffer.from(identity.key).toString('base64'),
    };
    writeFileSync(join(cluster.directory, `${name}.yaml`), webhook.config(user));
  }
  file = join(cluster.directory, 'authorization.yaml');
  write([...webhooks(), { type: 'RBAC', name: 'rbac' }]);
  server = await cluster.addServer(undefined, [`--authorization-config=${file}`]);
});

after(async () => {
  await cluster?.stop();
  await Promise.all([strict?.stop(), lenient?.stop()]);
});

beforeEach(() => {
  for (const webhook of [strict, lenient]) {
    webhook.received.length = 0;
    webhook.answer = () => answer({});
  }
});

function write(authorizers: readonly object[]): void {
  replaceFile(
    file,
    stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthorizationConfiguration', authorizers }),
  );
}

const answer = (status: object) => ({
  body: { kind: 'SubjectAccessReview', apiVersion: 'authorization.k8s.io/v1', status: { allowed: false, ...status } },
});

/** `strict` judges secrets and denies without an answer; `lenient` judges the group devs. */
function webhooks(): object[] {
  const common = (name: string) => ({
    authorizedTTL: '1h',
    cacheAuthorizedRequests: false,
    cacheUnauthorizedRequests: false,
    // Longer than it takes a busy machine to read the file again.
    timeout: '30s',
    subjectAccessReviewVersion: 'v1',
    matchConditionSubjectAccessReviewVersion: 'v1',
    connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: join(cluster.directory, `${name}.yaml`) },
  });
  return [
    {
      type: 'Webhook',
      name: 'strict',
      webhook: {
        ...common('strict'),
        failurePolicy: 'Deny',
        matchConditions: [
          { expression: 'has(request.resourceAttributes)' },
          { expression: 'request.resourceAttributes.resource == "secrets"' },
          { expression: 'request.user != "bob" || request.extra.nothing[0] == ""' },
        ],
      },
    },
    {
      type: 'Webhook',
      name: 'lenient',
      webhook: {
        ...common('lenient'),
        failurePolicy: 'NoOpinion',
        matchConditions: [{ expression: '"devs" in request.groups' }],
      },
    },
  ];
}

const ask = async (path: string, token: string) => (await server.client.get(path, { token })).status;

async function metric(name: string, labels: string): Promise<number> {
  const { text } = await server.client.get('/metrics');
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${name}{${labels}`));
  return Number(line?.split(' ').at(-1) ?? 0);
}

describe('configured authorizers', () => {
  it('ask a webhook only about what its conditions select, in their order', async () => {
    lenient.answer = () => answer({ allowed: true });
    assert.equal(await ask(maps, tokens.alice), 200);
    assert.deepEqual([strict.received.length, lenient.received.length], [0, 1]);
    assert.equal(await ask(secrets, tokens.alice), 200);
    assert.deepEqual([strict.received.length, lenient.received.length], [1, 2]);
    strict.answer = () => answer({ denied: true, reason: 'not these' });
    const denied = await server.client.get(secrets, { token: tokens.alice });
    assert.equal(denied.status, 403);
    assert.match(denied.body.message, /not these/);
    assert.equal(lenient.received.length, 2, 'a denial is final');
    assert.equal(await ask(maps, tokens.bob), 403);
    assert.equal(lenient.received.length, 2);
    assert.equal(await ask(secrets, tokens.admin), 200, 'the privileged group');
  });

  it('count what happens', async () => {
    assert.ok(
      (await metric('apiserver_authorization_decisions_total', 'type="Webhook",name="lenient",decision="allowed"')) >=
        2,
    );
    assert.ok(
      (await metric('apiserver_authorization_decisions_total', 'type="Webhook",name="strict",decision="denied"')) >= 1,
    );
    assert.ok(
      (await metric('apiserver_authorization_match_condition_exclusions_total', 'type="Webhook",name="strict"')) >= 1,
    );
  });

  it('deny or go on without an answer, as the policy of the webhook says', async () => {
    const broken = () => ({ status: 400, body: 'no' });
    lenient.answer = broken;
    assert.equal(await ask(maps, tokens.alice), 403, 'RBAC does not allow it');
    await server.client.post('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      metadata: { name: 'devs' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'devs' }],
    });
    await eventually(async () => (await ask(maps, tokens.alice)) === 200, 'RBAC allows it', 30_000);
    strict.answer = broken;
    assert.equal(await ask(secrets, tokens.alice), 403);
    assert.ok((await metric('apiserver_authorization_webhook_evaluations_fail_open_total', 'name="lenient"')) >= 1);
  });

  it('take a condition without a value for a question without an answer', async () => {
    assert.equal(await ask(secrets, tokens.bob), 403);
    assert.equal(strict.received.length, 0);
    assert.equal(
      await metric('apiserver_authorization_match_condition_evaluation_errors_total', 'type="Webhook",name="strict"'),
      1,
    );
  });

  it('answer access reviews as well', async () => {
    lenient.answer = () => answer({ allowed: true, reason: 'because' });
    const review = await server.client.post('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
      spec: { user: 'x', groups: ['devs'], nonResourceAttributes: { path: '/x', verb: 'get' } },
    });
    assert.deepEqual(review.body.status, { allowed: true, reason: 'because' });
  });
});

describe('a changed file', () => {
  const name = 'apiserver_authorization_config_controller_automatic_reloads_total';

  it('with faults changes nothing', async () => {
    write([{ type: 'RBAC' }, { type: 'Node', name: 'node' }]);
    await eventually(async () => (await metric(name, 'status="failure"')) === 1, 'it is counted', 30_000);
    assert.match(server.log, /the changed authorization configuration cannot be used/);
    lenient.answer = () => answer({ denied: true });
    assert.equal(await ask(maps, tokens.alice), 403);
  });

  it('does not add modes that follow stored objects', async () => {
    write([
      { type: 'RBAC', name: 'rbac' },
      { type: 'Node', name: 'node' },
    ]);
    await eventually(async () => (await metric(name, 'status="failure"')) === 2, 'it is counted', 30_000);
    assert.match(server.log, /authorizers\[1\].type: Node was not there at the start/);
  });

  it('takes effect at once, and leaves a question under way its answer', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const asked = new Promise<void>((resolve) => {
      lenient.answer = async () => {
        resolve();
        await held;
        return answer({ denied: true });
      };
    });
    const underWay = ask(maps, tokens.alice);
    await asked;
    write([{ type: 'RBAC', name: 'rbac' }]);
    await eventually(async () => (await metric(name, 'status="success"')) === 1, 'it is counted', 30_000);
    assert.equal(await ask(secrets, tokens.alice), 200);
    assert.equal(strict.received.length, 0);
    release();
    assert.equal(await underWay, 403);
  });
});
