import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type ReceivedReview, ReviewWebhook } from '../support/review-webhook.js';
import type { ApiClient } from './support/api-client.js';
import { eventually, freePort, TestCluster, type TestServer, tokens } from './support/test-cluster.js';

const selfReviews = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const tokenReviews = '/apis/authentication.k8s.io/v1/tokenreviews';
const apiAudience = 'https://kubernetes.default.svc';

const accepted = (user: object, rest: object = {}) => ({
  body: {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    status: { authenticated: true, user, ...rest },
  },
});
const refused = (rest: object = {}) => ({
  body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', status: { authenticated: false, ...rest } },
});

let cluster: TestCluster;
let webhook: ReviewWebhook;
let server: TestServer;
const file = (name: string) => join(cluster.directory, name);

before(async () => {
  cluster = await TestCluster.start({ servers: 0 });
  webhook = await ReviewWebhook.start();
  const identity = await webhook.clientIdentity('plinth');
  writeFileSync(file('webhook.crt'), identity.cert);
  writeFileSync(file('webhook.key'), identity.key);
  const user = { 'client-certificate': 'webhook.crt', 'client-key': 'webhook.key', token: 'server-token' };
  writeFileSync(file('webhook.json'), webhook.config(user));
  server = await start();
});
after(async () => {
  await cluster?.stop();
  await webhook?.stop();
});
beforeEach(() => {
  webhook.received.length = 0;
});

function start(...flags: string[]): Promise<TestServer> {
  return cluster.addServer(undefined, [
    `--authentication-token-webhook-config-file=${file('webhook.json')}`,
    '--authentication-token-webhook-version=v1',
    ...flags,
  ]);
}

async function whoIs(token: string, client: ApiClient = server.client) {
  const { status, body } = await client.post(selfReviews, {}, { token });
  return status === 201 ? body.status.userInfo : status;
}

const review = async (spec: object) => (await server.client.post(tokenReviews, { spec })).body.status;

describe('the token webhook', () => {
  it('is asked with the credentials of the server, and its user is taken whole', async () => {
    webhook.answer = () =>
      accepted({ username: 'wanda', uid: 'w-1', groups: ['a', 'b'], extra: { 'acme.com/Team': ['x', 'y'] } });
    assert.deepEqual(await whoIs('token-whole'), {
      username: 'wanda',
      uid: 'w-1',
      groups: ['a', 'b', 'system:authenticated'],
      extra: { 'acme.com/Team': ['x', 'y'] },
    });
    const [asked] = webhook.received as [ReceivedReview];
    assert.deepEqual([asked.client, asked.authorization], ['plinth', 'Bearer server-token']);
    assert.deepEqual(asked.body, {
      kind: 'TokenReview',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: {},
      spec: { token: 'token-whole', audiences: [apiAudience] },
      status: { user: {} },
    });
  });

  it('is not asked about tokens that other methods know', async () => {
    assert.equal((await whoIs(tokens.alice)).username, 'alice');
    assert.equal(webhook.received.length, 0);
  });

  it('is asked once for requests with the same token that come together', async () => {
    let open = () => {};
    const gate = new Promise<void>((resolve) => (open = resolve));
    webhook.answer = async () => {
      await gate;
      return accepted({ username: 'walter' });
    };
    const asking = Array.from({ length: 20 }, () => whoIs('token-together'));
    while (webhook.received.length === 0) await new Promise((resolve) => setImmediate(resolve));
    open();
    for (const user of await Promise.all(asking)) assert.equal(user.username, 'walter');
    assert.equal(webhook.received.length, 1);
  });

  it('refuses', async () => {
    webhook.answer = () => refused({ error: 'this token is blocked' });
    assert.equal(await whoIs('token-blocked'), 401);
    assert.deepEqual(await review({ token: 'token-blocked' }), {
      user: {},
      error: '[invalid bearer token, this token is blocked]',
    });
    assert.equal(webhook.received.length, 1, 'answers are kept, bad ones too');
    webhook.answer = () => refused();
    assert.deepEqual(await review({ token: 'token-nobody' }), { user: {}, error: 'invalid bearer token' });
  });

  it('says for whom a token is meant', async () => {
    webhook.answer = () => accepted({ username: 'wilma' }, { audiences: ['vault', 'third'] });
    assert.equal(await whoIs('token-vault'), 401);
    const status = await review({ token: 'token-vault', audiences: ['other', 'vault'] });
    assert.deepEqual([status.authenticated, status.audiences], [true, ['vault']]);
    assert.deepEqual(webhook.received.at(-1)?.body.spec.audiences, ['other', 'vault']);
    // A review without audiences is for this server.
    webhook.answer = () => accepted({ username: 'wilma' });
    assert.deepEqual((await review({ token: 'token-plain', audiences: ['vault'] })).authenticated, undefined);
    assert.deepEqual((await review({ token: 'token-plain', audiences: ['vault', apiAudience] })).audiences, [
      apiAudience,
    ]);
  });

  it('is not believed when its answer is not a whole review', async () => {
    const answers: readonly unknown[] = [
      'not json',
      [],
      {},
      { kind: 'TokenReview' },
      { kind: 'Status', status: { authenticated: true, user: { username: 'admin' } } },
      { kind: 'TokenReview', status: { authenticated: 'true', user: { username: 'admin' } } },
      { kind: 'TokenReview', status: { authenticated: true } },
      { kind: 'TokenReview', status: { authenticated: true, user: { username: '' } } },
      { kind: 'TokenReview', status: { authenticated: true, user: { username: 'admin', groups: 'system:masters' } } },
      { kind: 'TokenReview', status: { authenticated: true, user: { username: 'admin', extra: { a: 'b' } } } },
      { kind: 'TokenReview', status: { authenticated: true, user: { username: 'admin' }, audiences: [1] } },
    ];
    for (const [i, body] of answers.entries()) {
      webhook.answer = () => ({ body });
      assert.equal(await whoIs(`token-odd-${i}`), 401, JSON.stringify(body));
    }
    assert.match(server.log, /the token webhook cannot be called/);
  });

  it('fails alone: its tokens are refused, others go on, and the next call may succeed', async () => {
    webhook.answer = () => ({ status: 403, body: '' });
    assert.equal(await whoIs('token-later'), 401);
    assert.equal((await whoIs(tokens.alice)).username, 'alice');
    webhook.answer = () => accepted({ username: 'wes' });
    assert.equal((await whoIs('token-later')).username, 'wes');
    assert.equal(server.log.includes('token-later'), false);
  });

  it('is tried again when it fails for a moment', async () => {
    const answers = ['cut', { status: 503, body: '' }, accepted({ username: 'willy' })] as const;
    let next = 0;
    webhook.answer = () => answers[next++] ?? 'cut';
    assert.equal((await whoIs('token-moment')).username, 'willy');
  });

  it('makes no request anonymous', async () => {
    webhook.answer = () => refused();
    const { status } = await server.client.get('/version', { token: 'token-none' });
    assert.equal(status, 401);
  });
});

describe('answers of the token webhook', () => {
  it('are asked for again when their time is over', async () => {
    const short = await start('--authentication-token-webhook-cache-ttl=500ms');
    webhook.answer = () => accepted({ username: 'xena' });
    assert.equal((await whoIs('token-short', short.client)).username, 'xena');
    webhook.answer = () => refused();
    const began = Date.now();
    let status: unknown;
    do {
      status = await whoIs('token-short', short.client);
    } while (status !== 401 && Date.now() - began < 60_000);
    assert.equal(status, 401);
    assert.ok(webhook.received.length === 2, String(webhook.received.length));
  });

  it('are asked for each time without a time to live', async () => {
    const none = await start('--authentication-token-webhook-cache-ttl=0s');
    webhook.answer = () => accepted({ username: 'xena' });
    for (let i = 1; i <= 3; i++) {
      await whoIs('token-fresh', none.client);
      assert.equal(webhook.received.length, i);
    }
  });

  it('come in the older version too', async () => {
    const older = await start('--authentication-token-webhook-version=v1beta1');
    webhook.answer = ({ body }) => ({
      body: {
        apiVersion: body.apiVersion,
        kind: 'TokenReview',
        status: { authenticated: true, user: { username: 'old' } },
      },
    });
    assert.equal((await whoIs('token-older', older.client)).username, 'old');
    assert.equal(webhook.received[0]?.body.apiVersion, 'authentication.k8s.io/v1beta1');
  });
});

describe('a server with an unusable webhook', () => {
  it('does not start without a sound configuration', async () => {
    writeFileSync(file('broken.json'), webhook.config({}, { server: 'http://127.0.0.1:1' }));
    await assert.rejects(
      start(`--authentication-token-webhook-config-file=${file('broken.json')}`),
      /broken\.json: the server of the cluster must be an https URL/,
    );
  });

  it('refuses its tokens and answers the others', async () => {
    writeFileSync(file('away.json'), webhook.config({}, { server: `https://127.0.0.1:${await freePort()}` }));
    const alone = await start(`--authentication-token-webhook-config-file=${file('away.json')}`);
    assert.equal((await whoIs(tokens.alice, alone.client)).username, 'alice');
    assert.equal(await whoIs('token-away', alone.client), 401);
    await eventually(() => alone.log.includes('ECONNREFUSED'), 'a word in the log');
  });
});
