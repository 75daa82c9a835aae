import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { makeRequest, toBase64 } from '../support/certificate-requests.js';
import type { ApiClient, ApiResponse } from './support/api-client.js';
import { AttackScene, forbidden } from './support/attack-scene.js';
import { eventually, type TestCluster, tokens } from './support/test-cluster.js';

const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const { alice } = tokens;

let scene: AttackScene;
let cluster: TestCluster;
let admin: ApiClient;

before(async () => {
  scene = await AttackScene.start();
  ({ cluster, admin } = scene);
  for (const name of ['a', 'b']) await scene.make('/api/v1/namespaces', { metadata: { name } });
});
after(() => scene?.stop());

describe('certificates for more than one is', () => {
  const usages = ['digital signature', 'key encipherment', 'client auth'];
  const signer = 'k8s.io/apiserver-client';
  const condition = { type: 'Approved', status: 'True', reason: 'x', message: 'x' };

  async function ask(name: string, subject: string, more: object = {}, token: string = alice): Promise<ApiResponse> {
    const spec = { request: toBase64(await makeRequest({ subject })), signerName: signer, usages, ...more };
    return admin.post(
      requests,
      { metadata: { name }, spec, status: { conditions: [condition], certificate: 'eA==' } },
      { token },
    );
  }

  before(async () => {
    const resources = [
      'certificatesigningrequests',
      'certificatesigningrequests/approval',
      'certificatesigningrequests/status',
    ];
    const verbs = ['create', 'get', 'list', 'update', 'patch'];
    await scene.grant('requester', 'alice', [{ verbs, apiGroups: ['certificates.k8s.io'], resources }]);
    await eventually(async () => (await admin.get(requests, { token: alice })).status === 200, 'in force');
  });

  it('are not asked for', async () => {
    for (const [name, subject] of [
      ['masters', 'CN=alice, O=system:masters'],
      ['masters-last', 'CN=alice, O=devs, O=system:masters'],
      ['masters-multi', 'CN=alice+O=system:masters'],
    ] as const) {
      forbidden(await ask(name, subject), subject);
      assert.equal((await admin.get(`${requests}/${name}`)).status, 404);
    }
  });

  it('are neither accepted under a false name nor approved in advance', async () => {
    const claimed = { username: 'admin', uid: 'admin-uid', groups: ['system:masters'], extra: { a: ['b'] } };
    const { status, body } = await ask('false-name', 'CN=alice', claimed);
    assert.equal(status, 201);
    assert.equal(body.spec.username, 'alice');
    assert.deepEqual(body.spec.groups, ['devs', 'system:authenticated']);
    assert.equal(body.spec.extra, undefined);
    assert.deepEqual(body.status, {});
  });

  it('are not approved, signed or changed without the right to that', async () => {
    const { body } = await ask('own', 'CN=alice');
    const path = `${requests}/own`;
    const approved = { ...body, status: { conditions: [condition] } };
    forbidden(await admin.put(`${path}/approval`, approved, { token: alice }), 'approval');
    forbidden(await admin.patch(`${path}/approval`, 'merge', { status: approved.status }, { token: alice }), 'patch');
    const signed = { ...body, status: { certificate: Buffer.from(scene.users.cert).toString('base64') } };
    forbidden(await admin.put(`${path}/status`, signed, { token: alice }), 'signing');
    // Through the wrong path: fields that belong to another path stay unchanged.
    const wrong = await admin.put(
      path,
      { ...approved, spec: { ...body.spec, groups: ['system:masters'] } },
      { token: alice },
    );
    assert.ok([200, 422].includes(wrong.status), wrong.text);
    await admin.put(`${path}/status`, approved, { token: alice });
    await admin.patch(`${path}/status`, 'merge', { status: { conditions: [condition] } }, { token: alice });
    const now = (await admin.get(path)).body;
    assert.deepEqual(now.status, {});
    assert.deepEqual(now.spec, body.spec);
  });
});

describe('agents of nodes', () => {
  const pod = (name: string, nodeName: string, secret: string) => ({
    metadata: { name },
    spec: {
      nodeName,
      serviceAccountName: `account-${nodeName}`,
      containers: [{ name: 'c', image: 'i' }],
      volumes: [
        { name: 'v', secret: { secretName: secret } },
        { name: 't', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } },
      ],
    },
  });
  let one: ApiClient;
  let uids: Record<string, string>;

  before(async () => {
    uids = {};
    for (const node of ['n1', 'n2']) {
      await scene.make('/api/v1/nodes', { metadata: { name: node } });
      await scene.make('/api/v1/namespaces/a/secrets', {
        metadata: { name: `secret-${node}` },
        data: { key: 'dmFsdWU=' },
      });
      await scene.make('/api/v1/namespaces/a/serviceaccounts', { metadata: { name: `account-${node}` } });
      const made = await scene.make('/api/v1/namespaces/a/pods', pod(`pod-${node}`, node, `secret-${node}`));
      uids[node] = made.body.metadata.uid;
    }
    one = await scene.agent([{ O: ['system:nodes'] }, { CN: ['system:node:n1'] }]);
    await eventually(
      async () => (await one.get('/api/v1/namespaces/a/secrets/secret-n1')).status === 200,
      'the node reads what its pod needs',
    );
  });

  it('read no secret that their pods do not need, in any way', async () => {
    const secrets = '/api/v1/namespaces/a/secrets';
    for (const path of [
      `${secrets}/secret-n2`,
      `${secrets}/absent`,
      secrets,
      '/api/v1/secrets',
      `${secrets}?fieldSelector=metadata.name%3Dsecret-n2`,
      `${secrets}?watch=1&fieldSelector=metadata.name%3Dsecret-n2`,
      `${secrets}?watch=1`,
      `${secrets}?labelSelector=a%3Db`,
      `${secrets}?fieldSelector=metadata.name%21%3Dsecret-n1`,
      `/api/v1/secrets?fieldSelector=metadata.name%3Dsecret-n1`,
      `/api/v1/namespaces/b/secrets/secret-n1`,
    ]) {
      forbidden(await one.get(path), path);
    }
    const [there, absent] = await Promise.all(['secret-n2', 'absent'].map((name) => one.get(`${secrets}/${name}`)));
    assert.equal(there?.text.replaceAll('secret-n2', 'X'), absent?.text.replaceAll('absent', 'X'));
    forbidden(await one.patch(`${secrets}/secret-n1`, 'merge', { data: {} }), 'a write of what it reads');
  });

  it('get no token for an account or a pod of another node', async () => {
    const token = (account: string, name: string, uid: string | undefined, audiences?: readonly string[]) =>
      one.post(`/api/v1/namespaces/a/serviceaccounts/${account}/token`, {
        spec: { audiences, boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid } },
      });
    assert.equal((await token('account-n1', 'pod-n1', uids.n1)).status, 201);
    forbidden(await token('account-n1', 'pod-n1', uids.n1, ['vault']), 'for an audience that the pod does not need');
    forbidden(await token('account-n2', 'pod-n2', uids.n2), 'of another node');
    forbidden(await token('account-n1', 'pod-n2', uids.n2), 'bound to a pod of another node');
    forbidden(await token('absent', 'pod-n1', uids.n1), 'of nobody');
    const unbound = await one.post('/api/v1/namespaces/a/serviceaccounts/account-n1/token', { spec: {} });
    forbidden(unbound, 'bound to nothing');
  });

  it('get no secret through a pod of their own, and move no pod', async () => {
    const bring = pod('bring', 'n1', 'secret-n2');
    forbidden(await one.post('/api/v1/namespaces/a/pods', bring), 'a pod that needs a secret');
    const mirror = { ...bring, metadata: { name: 'bring', annotations: { 'kubernetes.io/config.mirror': 'x' } } };
    forbidden(await one.post('/api/v1/namespaces/a/pods', mirror), 'a mirror pod that needs a secret');
    const binding = { metadata: { name: 'pod-n2' }, target: { kind: 'Node', name: 'n1' } };
    forbidden(await one.post('/api/v1/namespaces/a/pods/pod-n2/binding', binding), 'binding');
    forbidden(await one.patch('/api/v1/namespaces/a/pods/pod-n2/status', 'merge', { status: {} }), 'status of others');
    forbidden(await one.delete('/api/v1/namespaces/a/pods/pod-n2'), 'deletion');
    forbidden(await one.patch('/api/v1/nodes/n2', 'merge', { metadata: { labels: { a: 'b' } } }), 'another node');
    forbidden(await one.patch('/api/v1/nodes/n2/status', 'merge', { status: {} }), 'status of another node');
  });

  it('are recognized only by their whole name', async () => {
    const subjects: readonly Record<string, string[]>[][] = [
      [{ CN: ['system:node:n1'] }],
      [{ O: ['system:nodes'] }, { CN: ['n1'] }],
      [{ O: ['system:nodes'] }, { CN: ['system:node:'] }],
      [{ O: ['system:nodes'] }, { CN: ['system:node:N1'] }],
      [{ O: ['System:Nodes'] }, { CN: ['system:node:n1'] }],
      [{ O: ['system:nodes'] }, { CN: ['system:node:n1\0'] }],
      [{ O: ['system:nodes'] }, { CN: ['system:node:n2/../n1'] }],
    ];
    for (const subject of subjects) {
      const client = await scene.agent(subject);
      const { status } = await client.get('/api/v1/namespaces/a/secrets/secret-n1');
      assert.ok([401, 403].includes(status), `${JSON.stringify(subject)}: ${status}`);
    }
  });
});

describe('secrets that make tokens', () => {
  it('give no group other than those for bootstrapping', async () => {
    for (const groups of ['system:masters', 'system:bootstrappers:a,system:masters', 'system:bootstrappers:a ,x']) {
      const path = '/api/v1/namespaces/control-system/secrets/bootstrap-token-abcdef';
      await admin.delete(path);
      const stringData = {
        'token-id': 'abcdef',
        'token-secret': '0123456789abcdef',
        'usage-bootstrap-authentication': 'true',
        'auth-extra-groups': groups,
      };
      const metadata = { name: 'bootstrap-token-abcdef' };
      const type = 'bootstrap.k8s.io/token';
      const made = await admin.post('/api/v1/namespaces/control-system/secrets', { metadata, type, stringData });
      assert.ok([201, 422].includes(made.status), made.text);
      const answer = await admin.get('/api/v1/secrets', { token: 'abcdef.0123456789abcdef' });
      assert.equal(answer.status, 401, groups);
    }
  });

  it('die with their account', async () => {
    await scene.make('/api/v1/namespaces/a/serviceaccounts', { metadata: { name: 'short' } });
    const path = '/api/v1/namespaces/a/serviceaccounts/short';
    const { body } = await scene.make(`${path}/token`, { spec: {} });
    const { token } = body.status;
    assert.equal((await admin.get('/api/v1/secrets', { token })).status, 403);
    assert.equal((await admin.delete(path)).status, 200);
    await eventually(async () => (await admin.get('/api/v1/secrets', { token })).status === 401, 'refused', 60_000);
    // A new account of the same name is another account.
    await scene.make('/api/v1/namespaces/a/serviceaccounts', { metadata: { name: 'short' } });
    assert.equal((await admin.get('/api/v1/secrets', { token })).status, 401);
  });
});

describe('the log', () => {
  it('has the lines that the server wrote, whatever is sent', async () => {
    const forged = '2026-01-01T00:00:00.000Z ERROR forged';
    const text = encodeURIComponent(`x\n${forged}\r\n\u2028\u001b[2K`);
    const liar = await scene.agent([{ CN: [`eve\n${forged}`] }]);
    for (const client of [admin, liar]) {
      await client.get(`/api/v1/namespaces/a/secrets/${text}`);
      await client.get(`/${text}`);
      await client.get(`/api/v1/configmaps?labelSelector=${text}&fieldSelector=${text}&continue=${text}`);
      await client.post(`/api/v1/namespaces/a/configmaps?fieldManager=${text}`, { metadata: { name: 'x' } });
      await client.post('/api/v1/namespaces/a/configmaps', { metadata: { name: `x\n${forged}` } });
      await client.post('/api/v1/namespaces/a/configmaps', {}, { headers: { 'user-agent': 'x\t2026 ERROR forged' } });
      await client.get('/api/v1/secrets', {
        token: `x.${Buffer.from(`{"iss":"x\n${forged}"}`).toString('base64url')}.x`,
      });
    }
    await scene.make('/api/v1/namespaces/a/secrets', {
      metadata: { name: 'known' },
      stringData: { key: 'very-secret-value' },
    });
    const { log } = cluster.first;
    assert.ok(log.includes('credentials refused'));
    for (const line of log.split('\n')) assert.doesNotMatch(line, /^.{0,3}2026-01-01|^\s*2026 ERROR/, line);
    assert.ok(!log.includes('\u001b') && !log.includes('\u2028'));
    for (const secret of [...Object.values(tokens), 'very-secret-value', 'PRIVATE KEY', '0123456789abcdef']) {
      assert.ok(!log.includes(secret), 'a secret is in the log');
    }
  });
});
