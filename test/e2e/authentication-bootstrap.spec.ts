import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ApiClient } from './support/api-client.js';
import { Kubectl } from './support/kubectl.js';
import { eventually, TestCluster } from './support/test-cluster.js';

const secrets = '/api/v1/namespaces/control-system/secrets';
const selfReviews = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const tokenReviews = '/apis/authentication.k8s.io/v1/tokenreviews';
const secretPart = '0123456789abcdef';

let cluster: TestCluster;
let admin: ApiClient;

before(async () => {
  cluster = await TestCluster.start({
    servers: 2,
    flags: ['--authorization-mode=RBAC', '--enable-bootstrap-token-auth', '--log-level=debug'],
  });
  admin = cluster.first.client;
});
after(() => cluster?.stop());

interface TokenSecret {
  readonly id: string;
  readonly type?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly data?: Readonly<Record<string, string>>;
}

/** Creates the secret of a valid token, except for the given fields. */
async function addToken({ id, type, name, namespace = 'control-system', data = {} }: TokenSecret): Promise<string> {
  const stringData = {
    'token-id': id,
    'token-secret': secretPart,
    'usage-bootstrap-authentication': 'true',
    ...data,
  };
  const body = {
    metadata: { name: name ?? `bootstrap-token-${id}` },
    type: type ?? 'bootstrap.k8s.io/token',
    stringData,
  };
  const answer = await admin.post(`/api/v1/namespaces/${namespace}/secrets`, body);
  assert.equal(answer.status, 201, answer.text);
  return `${id}.${secretPart}`;
}

async function whoIs(client: ApiClient, token: string) {
  const { status, body } = await client.post(selfReviews, {}, { token });
  return status === 201 ? body.status.userInfo : status;
}

describe('bootstrap tokens', () => {
  it('are users of their own', async () => {
    const token = await addToken({ id: 'abc001' });
    for (const { client } of cluster.servers) {
      assert.deepEqual(await whoIs(client, token), {
        username: 'system:bootstrap:abc001',
        groups: ['system:bootstrappers', 'system:authenticated'],
      });
    }
    const review = await admin.post(tokenReviews, { spec: { token } });
    assert.equal(review.body.status.user.username, 'system:bootstrap:abc001');
  });

  it('may be in further groups for bootstrapping', async () => {
    const groups = 'system:bootstrappers:workers,system:bootstrappers:kubeadm:default-node-token';
    const token = await addToken({ id: 'abc002', data: { 'auth-extra-groups': groups } });
    assert.deepEqual((await whoIs(admin, token)).groups, [
      'system:bootstrappers',
      'system:bootstrappers:kubeadm:default-node-token',
      'system:bootstrappers:workers',
      'system:authenticated',
    ]);
  });

  it('are refused unless everything about them is right', async () => {
    const ago = (ms: number) => new Date(Date.now() - ms).toISOString();
    const cases: readonly (readonly [string, TokenSecret])[] = [
      ['it has expired', { id: 'bad001', data: { expiration: ago(1000) } }],
      ['nobody can tell when it ends', { id: 'bad002', data: { expiration: 'tomorrow' } }],
      ['it is not for that', { id: 'bad003', data: { 'usage-bootstrap-authentication': 'false' } }],
      ['it is not clearly for that', { id: 'bad004', data: { 'usage-bootstrap-authentication': 'True' } }],
      ['it is a secret of another type', { id: 'bad005', type: 'Opaque' }],
      ['its secret has another name', { id: 'bad006', name: 'bootstrap-token-other1' }],
      ['it is in another namespace', { id: 'bad007', namespace: 'default' }],
      ['it gives rights', { id: 'bad008', data: { 'auth-extra-groups': 'system:masters' } }],
      ['it gives rights too', { id: 'bad009', data: { 'auth-extra-groups': 'system:bootstrappers:a,system:masters' } }],
      ['its groups have spaces', { id: 'bad010', data: { 'auth-extra-groups': ' system:bootstrappers:a' } }],
    ];
    for (const [why, secret] of cases) {
      // Validation may refuse the secret itself, which is just as good.
      const token = await addToken(secret).catch(() => `${secret.id}.${secretPart}`);
      assert.equal(await whoIs(admin, token), 401, why);
    }
    const log = cluster.first.log;
    assert.match(log, /bootstrap token refused/);
    assert.equal(log.includes(secretPart), false);
  });

  it('are refused when their text is not exactly theirs', async () => {
    const token = await addToken({ id: 'abc003' });
    assert.equal((await whoIs(admin, token)).username, 'system:bootstrap:abc003');
    const wrong = [
      'abc003.0123456789abcdeg',
      'abc003.0123456789ABCDEF',
      'ABC003.0123456789abcdef',
      `${token}0`,
      `x${token}`,
      'abc003.',
      'abc003',
      'zzz999.0123456789abcdef',
      '../003.0123456789abcdef',
      token.replace('.', ':'),
    ];
    for (const text of wrong) assert.equal(await whoIs(admin, text), 401, text);
  });

  it('end at their time although they were used before', async () => {
    // Long enough for a busy machine to use the token before it expires.
    for (let life = 1_500; ; life *= 2) {
      const id = `life${String(life / 1_500).padStart(2, '0')}`;
      const expiration = new Date(Date.now() + life).toISOString();
      const token = await addToken({ id, data: { expiration } });
      const user = await whoIs(admin, token);
      const end = Math.floor(Date.parse(expiration) / 1000) * 1000;
      if (user === 401 && Date.now() >= end && life < 60_000) continue;
      assert.equal(user.username, `system:bootstrap:${id}`);
      await eventually(async () => (await whoIs(admin, token)) === 401, 'the end of the token', life + 60_000);
      assert.ok(Date.now() >= end);
      return;
    }
  });

  it('are revoked in every process as soon as their secret goes or changes', async () => {
    const token = await addToken({ id: 'abc005' });
    for (const { client } of cluster.servers) {
      assert.equal((await whoIs(client, token)).username, 'system:bootstrap:abc005');
    }
    const path = `${secrets}/bootstrap-token-abc005`;
    const off = { stringData: { 'usage-bootstrap-authentication': 'false' } };
    assert.equal((await admin.patch(path, 'merge', off)).status, 200);
    for (const { client } of cluster.servers) {
      await eventually(async () => (await whoIs(client, token)) === 401, 'the change', 60_000);
    }
    const on = { stringData: { 'usage-bootstrap-authentication': 'true' } };
    assert.equal((await admin.patch(path, 'merge', on)).status, 200);
    for (const { client } of cluster.servers) {
      assert.equal((await whoIs(client, token)).username, 'system:bootstrap:abc005');
    }
    assert.equal((await admin.delete(path)).status, 200);
    for (const { client } of cluster.servers) {
      await eventually(async () => (await whoIs(client, token)) === 401, 'the deletion', 60_000);
    }
  });

  it('end with the deletion of a secret that finalizers hold', async () => {
    const token = await addToken({ id: 'abc006' });
    const path = `${secrets}/bootstrap-token-abc006`;
    const held = { metadata: { finalizers: ['example.com/hold'] } };
    assert.equal((await admin.patch(path, 'merge', held)).status, 200);
    assert.equal((await whoIs(admin, token)).username, 'system:bootstrap:abc006');
    assert.equal((await admin.delete(path)).status, 200);
    await eventually(async () => (await whoIs(admin, token)) === 401, 'the deletion', 60_000);
    assert.equal((await admin.patch(path, 'merge', { metadata: { finalizers: null } })).status, 200);
  });

  it('are for kubectl', async () => {
    const token = await addToken({ id: 'abc007' });
    const kubectl = new Kubectl(cluster.first.kubeconfig);
    const base = [`--server=${cluster.first.url}`, `--certificate-authority=${cluster.pki.authorityFile}`];
    const anonymous = [...base, '--kubeconfig=/dev/null', `--token=${token}`];
    const { stdout, stderr } = kubectl.run([
      'auth',
      'whoami',
      '-o',
      'jsonpath={.status.userInfo.username}',
      ...anonymous,
    ]);
    assert.equal(stdout, 'system:bootstrap:abc007', stderr);
  });

  it('are not guessed without a pause, whoever else is behind the same address', async () => {
    const good = await addToken({ id: 'abc009' });
    const guess = (index: number) => `abc009.${String(index).padStart(16, '0')}`;
    let refused: Awaited<ReturnType<ApiClient['post']>> | undefined;
    for (let index = 0; refused === undefined; index += 20) {
      assert.ok(index < 2_000, 'all guesses were looked up');
      const guesses = Array.from({ length: 20 }, (_, each) => guess(index + each));
      const answers = await Promise.all(guesses.map((token) => admin.post(selfReviews, {}, { token })));
      for (const { status } of answers) assert.ok(status === 401 || status === 429, String(status));
      refused = answers.find(({ status }) => status === 429);
    }
    assert.equal(refused.body.message, 'too many wrong bootstrap tokens came from this address');
    assert.ok(Number(refused.headers['retry-after']) > 0);
    // Other credentials are accepted at once, this one soon.
    assert.equal((await admin.get('/api/v1/namespaces/default')).status, 200);
    await eventually(async () => (await whoIs(admin, good)).username === 'system:bootstrap:abc009', 'the good token');
  });
});

describe('without the flag', () => {
  it('bootstrap tokens are nothing', async () => {
    const token = await addToken({ id: 'abc008' });
    const server = await cluster.addServer(undefined, ['--enable-bootstrap-token-auth=false']);
    assert.equal(await whoIs(server.client, token), 401);
  });
});
