import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { makeRequestWithKey, type TestRequest, toBase64 } from '../support/certificate-requests.js';
import { nameOfType, rawName, rawRequest, textNode, textTags, tlv } from '../support/raw-certificates.js';
import { Kubectl } from './support/kubectl.js';
import { eventually, TestCluster, tokens } from './support/test-cluster.js';

const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const clientUsages = ['digital signature', 'key encipherment', 'client auth'];
const mode = '--authorization-mode=RBAC';

let cluster: TestCluster;
let kubectl: Kubectl;

before(async () => {
  cluster = await TestCluster.start({
    servers: 1,
    flags: [mode, '--runtime-config=certificates.k8s.io/v1beta1'],
    controllers: true,
    controllerFlags: [mode],
  });
  kubectl = new Kubectl(cluster.first.kubeconfig);
  const requests = { apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests'] };
  await grant('test:requester', 'alice', [
    { ...requests, verbs: ['create', 'get', 'list', 'watch'] },
    // Rights on the paths, but not on any signer.
    {
      ...requests,
      resources: ['certificatesigningrequests/approval', 'certificatesigningrequests/status'],
      verbs: ['update', 'patch'],
    },
  ]);
  const { client } = cluster.first;
  await eventually(async () => (await client.get(path, { token: tokens.alice })).status === 200, 'the right of alice');
});

after(() => cluster.stop());

async function grant(name: string, user: string, rules: readonly object[]): Promise<void> {
  const { client } = cluster.first;
  assert.equal((await client.post(`${rbac}/clusterroles`, { metadata: { name }, rules })).status, 201);
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name };
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }];
  const bound = await client.post(`${rbac}/clusterrolebindings`, { metadata: { name }, roleRef, subjects });
  assert.equal(bound.status, 201);
}

interface Asked extends TestRequest {
  readonly signer?: string;
  readonly usages?: readonly string[];
  readonly expirationSeconds?: number;
  readonly token?: string;
}

/** Creates a request and returns its private key. */
async function ask(name: string, asked: Asked = {}): Promise<string> {
  const { signer = 'k8s.io/apiserver-client', usages = clientUsages, expirationSeconds, token, ...rest } = asked;
  const { request, privateKey } = await makeRequestWithKey(rest);
  const spec = {
    request: toBase64(request),
    signerName: signer,
    usages,
    ...(expirationSeconds && { expirationSeconds }),
  };
  const { status, text } = await cluster.first.client.post(path, { metadata: { name }, spec }, { token });
  assert.equal(status, 201, text);
  return privateKey;
}

async function certificateOf(name: string): Promise<string | undefined> {
  const { body } = await cluster.first.client.get(`${path}/${name}`);
  return body.status.certificate && Buffer.from(body.status.certificate, 'base64').toString('latin1');
}

const issued = (name: string) => eventually(() => certificateOf(name), `the certificate of ${name}`);

/** Approves one more request and waits until it is signed. By then, earlier approved requests were processed. */
async function signerPassed(name: string): Promise<void> {
  await ask(name, { subject: 'CN=fence' });
  kubectl.ok(['certificate', 'approve', name]);
  await issued(name);
}

describe('certificate signing requests', () => {
  it('become certificates that identify their users', async () => {
    const key = await ask('jane', { subject: 'CN=jane, O=devs', expirationSeconds: 7200, token: tokens.alice });
    assert.equal(kubectl.ok(['get', 'csr', 'jane', '--no-headers']).trim().split(/\s+/).at(-1), 'Pending');
    kubectl.ok(['certificate', 'approve', 'jane']);
    const pem = await issued('jane');
    const certificate = new X509Certificate(pem);
    assert.equal(certificate.subject, 'CN=jane\nO=devs');
    assert.equal(certificate.ca, false);
    const now = Date.now();
    const life = Date.parse(certificate.validTo) - now;
    assert.ok(life > 7000_000 && life <= 7200_000, certificate.validTo);
    assert.ok(Date.parse(certificate.validFrom) < now);
    assert.match(kubectl.ok(['get', 'csr', 'jane', '--no-headers']), /Approved,Issued/);

    const client = cluster.clientFor(cluster.first, { cert: pem, key });
    try {
      const refused = await client.get('/api/v1/nodes');
      assert.equal(refused.status, 403);
      assert.match(refused.body.message, /User "jane" cannot list resource "nodes"/);
      await grant('test:jane', 'jane', [{ apiGroups: [''], resources: ['nodes'], verbs: ['list'] }]);
      await eventually(async () => (await client.get('/api/v1/nodes')).status === 200, 'the right of jane');
    } finally {
      client.close();
    }
  });

  for (const key of ['rsa', 'p384', 'p521', 'ed25519'] as const) {
    it(`are signed for keys of ${key}`, async () => {
      await ask(`key-${key}`, { key });
      kubectl.ok(['certificate', 'approve', `key-${key}`]);
      const certificate = new X509Certificate(await issued(`key-${key}`));
      assert.ok(certificate.verify(new X509Certificate(cluster.pki.authority).publicKey));
    });
  }

  it('stay unsigned when they are denied or break a rule of their signer', async () => {
    await ask('denied');
    kubectl.ok(['certificate', 'deny', 'denied']);
    await ask('server', { usages: [...clientUsages, 'server auth'] });
    const node = { subject: 'CN=system:node:n, O=system:nodes', signer: 'k8s.io/nodeagent-serving' };
    const serverUsages = ['digital signature', 'key encipherment', 'server auth'];
    await ask('no-host', { ...node, usages: serverUsages });
    await ask('foreign', { signer: 'example.com/own' });
    await ask('good-host', { ...node, usages: serverUsages, names: [{ type: 'dns', value: 'n.example.com' }] });
    for (const name of ['server', 'no-host', 'foreign', 'good-host']) kubectl.ok(['certificate', 'approve', name]);
    assert.match(new X509Certificate(await issued('good-host')).subjectAltName ?? '', /DNS:n.example.com/);
    await signerPassed('fence-1');
    for (const name of ['denied', 'server', 'no-host', 'foreign']) assert.equal(await certificateOf(name), undefined);
    assert.match(kubectl.ok(['get', 'csr', 'denied', '--no-headers']), /Denied/);
    assert.notEqual(kubectl.run(['certificate', 'approve', 'denied']).code, 0);
  });

  it('are approved only by those who may approve for the signer', async () => {
    await ask('perm', { signer: 'example.com/a' });
    const condition = { type: 'Approved', status: 'True', reason: 'r', message: 'm' };
    const approve = () =>
      cluster.first.client.patch(`${path}/perm/approval`, 'merge', { status: { conditions: [condition] } }, as);
    const as = { token: tokens.alice };
    const refused = await approve();
    assert.equal(refused.status, 403);
    assert.equal(
      refused.body.message,
      'certificatesigningrequests.certificates.k8s.io "perm" is forbidden: user not permitted to approve requests with signerName "example.com/a"',
    );
    const signers = { apiGroups: ['certificates.k8s.io'], resources: ['signers'] };
    await grant('test:approver', 'alice', [{ ...signers, resourceNames: ['example.com/*'], verbs: ['approve'] }]);
    await eventually(async () => (await approve()).status === 200, 'the right to approve');
    const certificate = toBase64(cluster.pki.authority);
    const signed = await cluster.first.client.patch(`${path}/perm/status`, 'merge', { status: { certificate } }, as);
    assert.equal(signed.status, 403);
    assert.match(signed.body.message, /user not permitted to sign requests with signerName "example.com\/a"$/);
  });

  it('of administrators are refused', async () => {
    const { request } = await makeRequestWithKey({ subject: 'CN=a, O=system:masters' });
    const spec = { request: toBase64(request), signerName: 'k8s.io/apiserver-client', usages: clientUsages };
    const { status, body } = await cluster.first.client.post(path, { metadata: { name: 'masters' }, spec });
    assert.equal(status, 403);
    assert.match(body.message, /use of k8s.io\/apiserver-client signer with system:masters group is not allowed$/);
  });

  it('of administrators are refused in every spelling, and signed by nobody when they get past that', async () => {
    for (const type of ['utf8', 'teletex', 'ia5', 'bmp', 'universal'] as const) {
      const { pem } = rawRequest(nameOfType(type, 'eve', 'system:masters'));
      const spec = (signerName: string) => ({ request: toBase64(pem), signerName, usages: clientUsages });
      const metadata = { name: `masters-${type}` };
      const api = await cluster.first.client.post(path, { metadata, spec: spec('k8s.io/apiserver-client') });
      assert.equal(api.status, 403, type);
      const legacy = await cluster.first.client.post(path.replace('/v1/', '/v1beta1/'), {
        metadata,
        spec: spec('k8s.io/legacy-unknown'),
      });
      assert.equal(legacy.status, 201, legacy.text);
      kubectl.ok(['certificate', 'approve', metadata.name]);
    }
    await signerPassed('fence-masters');
    for (const type of ['utf8', 'teletex', 'ia5', 'bmp', 'universal']) {
      assert.equal(await certificateOf(`masters-${type}`), undefined, type);
    }
  });

  it('with names that can be read in two ways are invalid', async () => {
    const twice = rawRequest(rawName([['CN', textNode('utf8', 'a')]], [['CN', textNode('utf8', 'b')]]));
    const halves = rawRequest(rawName([['O', tlv(textTags.bmp, Buffer.from('0061d800', 'hex'))]]));
    for (const { pem } of [twice, halves]) {
      const spec = { request: toBase64(pem), signerName: 'example.com/a', usages: clientUsages };
      const { status, body } = await cluster.first.client.post(path, { metadata: { name: 'odd' }, spec });
      assert.equal(status, 422, body.message);
    }
  });

  it('of node agents are approved for those who may ask for them, and let them in', async () => {
    const node = { subject: 'CN=system:node:n1, O=system:nodes', signer: 'k8s.io/apiserver-client-nodeagent' };
    const key = await ask('node', { ...node, token: tokens.alice });
    await ask('named', { ...node, token: tokens.alice, names: [{ type: 'dns', value: 'n1' }] });
    await signerPassed('fence-2');
    const before = await cluster.first.client.get(`${path}/node`);
    assert.deepEqual(before.body.status, {});
    await grant('test:joiner', 'alice', [
      { apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests/nodeclient'], verbs: ['create'] },
    ]);
    const pem = await issued('node');
    const { body } = await cluster.first.client.get(`${path}/node`);
    assert.equal(body.status.conditions[0].reason, 'AutoApproved');
    const { body: named } = await cluster.first.client.get(`${path}/named`);
    assert.deepEqual(named.status, {});
    const client = cluster.clientFor(cluster.first, { cert: pem, key });
    try {
      const answer = await client.get('/api/v1/namespaces');
      assert.match(answer.body.message, /User "system:node:n1" cannot list/);
    } finally {
      client.close();
    }
  });
});
