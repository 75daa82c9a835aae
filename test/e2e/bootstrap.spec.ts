import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { compactVerify } from 'jose';
import { parse } from 'yaml';
import { mainFile } from '../support/main-file.js';
import { eventually, TestCluster } from './support/test-cluster.js';

const secrets = '/api/v1/namespaces/control-system/secrets';
const clusterInfo = '/api/v1/namespaces/control-public/configmaps/cluster-info';
const mode = '--authorization-mode=RBAC';
const tokenSecret = '0123456789abcdef';

let cluster: TestCluster;

before(async () => {
  cluster = await TestCluster.start({
    servers: 1,
    flags: [mode],
    controllers: true,
    controllerFlags: [mode, '--controllers=*,bootstrapsigner,tokencleaner'],
  });
});

after(() => cluster.stop());

async function publish(server: string): Promise<string> {
  const args = ['cluster-info', `--server=${server}`, `--certificate-authority=${cluster.pki.authorityFile}`];
  const env = { ...process.env, PLINTH_DATABASE_URL: cluster.databaseUrl };
  return (await promisify(execFile)(process.execPath, [mainFile, ...args], { env })).stdout;
}

function tokenBody(id: string, entries: Record<string, string> = {}): Record<string, unknown> {
  return {
    metadata: { name: `bootstrap-token-${id}` },
    type: 'bootstrap.k8s.io/token',
    stringData: { 'token-id': id, 'token-secret': tokenSecret, 'usage-bootstrap-signing': 'true', ...entries },
  };
}

async function createToken(id: string, entries: Record<string, string> = {}): Promise<void> {
  const { status, text } = await cluster.first.client.post(secrets, tokenBody(id, entries));
  assert.equal(status, 201, text);
}

/** The map as a node without credentials sees it. */
async function readClusterInfo(): Promise<Record<string, string>> {
  const client = cluster.clientFor(cluster.first);
  try {
    const { status, body, text } = await client.get(clusterInfo);
    assert.equal(status, 200, text);
    return body.data;
  } finally {
    client.close();
  }
}

const signatures = async () => Object.keys(await readClusterInfo()).filter((key) => key !== 'kubeconfig');

/** Checks a detached signature as a joining node does: only with the algorithm that it expects. */
async function verify(data: Record<string, string>, id: string, secret = tokenSecret): Promise<void> {
  const [header, payload, signature] = (data[`jws-kubeconfig-${id}`] ?? '').split('.');
  assert.equal(payload, '');
  const content = Buffer.from(data.kubeconfig ?? '').toString('base64url');
  const key = new TextEncoder().encode(`${id}.${secret}`);
  await compactVerify(`${header}.${content}.${signature}`, key, { algorithms: ['HS256'] });
}

describe('the published cluster-info', () => {
  it('learns address and authority, and that a holder of its token vouches for them', async () => {
    const { first } = cluster;
    const anonymous = cluster.clientFor(first);
    assert.equal((await anonymous.get(clusterInfo)).status, 403);
    assert.match(await publish('https://old.example.com:6443'), /published as https:\/\/old.example.com:6443/);
    await eventually(async () => (await anonymous.get(clusterInfo)).status === 200, 'the right of everybody');
    assert.equal((await anonymous.get('/api/v1/namespaces/control-public/configmaps')).status, 403);
    anonymous.close();

    await createToken('aaaaaa');
    await createToken('bbbbbb', { 'usage-bootstrap-signing': 'false' });
    const data = await eventually(async () => {
      const read = await readClusterInfo();
      return 'jws-kubeconfig-aaaaaa' in read && read;
    }, 'the signature');
    await verify(data, 'aaaaaa');
    await assert.rejects(verify(data, 'aaaaaa', 'fedcba9876543210'));
    assert.deepEqual(Object.keys(data).sort(), ['jws-kubeconfig-aaaaaa', 'kubeconfig']);
    const { clusters } = parse(data.kubeconfig ?? '');
    assert.equal(clusters[0].cluster.server, 'https://old.example.com:6443');
    const authority = Buffer.from(clusters[0].cluster['certificate-authority-data'], 'base64').toString('latin1');
    assert.equal(authority, cluster.pki.authority);

    // A new address gets a new signature.
    await publish(first.url);
    await eventually(async () => {
      const read = await readClusterInfo();
      const isNew = read.kubeconfig?.includes(first.url) === true;
      return (
        isNew &&
        (await verify(read, 'aaaaaa').then(
          () => true,
          () => false,
        ))
      );
    }, 'the signature over the new address');
  });

  it('is not vouched for by tokens that lost the right, ended or went', async () => {
    const { client } = cluster.first;
    for (const id of ['cccccc', 'dddddd', 'eeeeee']) await createToken(id);
    const signedBy = (...ids: string[]) =>
      eventually(
        async () => {
          const expected = ids.map((id) => `jws-kubeconfig-${id}`);
          return JSON.stringify((await signatures()).sort()) === JSON.stringify(expected);
        },
        `signatures of ${ids.join(', ')}`,
      );
    await signedBy('aaaaaa', 'cccccc', 'dddddd', 'eeeeee');
    await client.patch(`${secrets}/bootstrap-token-cccccc`, 'merge', {
      stringData: { 'usage-bootstrap-signing': 'false' },
    });
    await signedBy('aaaaaa', 'dddddd', 'eeeeee');
    await client.delete(`${secrets}/bootstrap-token-dddddd`);
    await signedBy('aaaaaa', 'eeeeee');
    const expiration = new Date(Date.now() + 2000).toISOString();
    await client.patch(`${secrets}/bootstrap-token-eeeeee`, 'merge', { stringData: { expiration } });
    await signedBy('aaaaaa');
    await eventually(
      async () => (await client.get(`${secrets}/bootstrap-token-eeeeee`)).status === 404,
      'the end of the expired token',
    );
    assert.ok(Date.now() >= Date.parse(expiration));
    assert.equal((await client.get(`${secrets}/bootstrap-token-aaaaaa`)).status, 200);
  });
});

describe('a bootstrap token', () => {
  it('is refused unless it is well formed', async () => {
    const { client } = cluster.first;
    const { status, body } = await client.post(secrets, tokenBody('ffffff', { 'token-secret': 'short' }));
    assert.equal(status, 422);
    assert.equal(body.details.causes[0].field, 'data[token-secret]');
    assert.ok(!JSON.stringify(body).includes('short'));
    const renamed = { ...tokenBody('ffffff'), metadata: { name: 'bootstrap-token-000000' } };
    assert.equal((await client.post(secrets, renamed)).body.details.causes[0].field, 'metadata.name');
  });
});
