import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { vendorNames } from '../../src/base/machinery/vendor.js';
import { signSecretToken } from '../../src/server/authentication/service-account/secret-token.js';
import { readSigningKey } from '../../src/server/authentication/service-account/token-issuer.js';
import { formatKubeconfig } from '../../src/tools/cli/kubeconfig.js';
import { Kubectl } from './support/kubectl.js';
import { eventually, TestCluster, tokens } from './support/test-cluster.js';

const names = vendorNames('k8s.io');
const issuer = names.defaultTokenIssuer;
const accounts = '/api/v1/namespaces/default/serviceaccounts';
const pods = '/api/v1/namespaces/default/pods';
const anything = '/api/v1/namespaces/none/configmaps';

describe('tokens of service accounts', () => {
  let cluster: TestCluster;
  let keyFile: string;

  /** The user as a server sees it, or the code of the refusal. */
  async function whoIs(token: string, server = cluster.first): Promise<string> {
    const { status, body } = await server.client.get(anything, { token });
    return status === 403 ? (/User "(.*?)" cannot/.exec(body.message)?.[1] ?? body.message) : String(status);
  }

  async function account(name: string): Promise<string> {
    const { status, body } = await cluster.first.client.post(accounts, { metadata: { name } });
    assert.equal(status, 201);
    return body.metadata.uid;
  }

  async function pod(name: string, serviceAccountName: string): Promise<string> {
    const spec = { serviceAccountName, containers: [{ name: 'c', image: 'i' }] };
    const { status, body } = await cluster.first.client.post(pods, { metadata: { name }, spec });
    assert.equal(status, 201);
    return body.metadata.uid;
  }

  const request = (name: string, spec: object = {}) => cluster.first.client.post(`${accounts}/${name}/token`, { spec });

  async function tokenOf(name: string, spec: object = {}): Promise<string> {
    const { status, body } = await request(name, spec);
    assert.equal(status, 201, body.message);
    return body.status.token;
  }

  before(async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    cluster = await TestCluster.start({ servers: 0 });
    keyFile = join(cluster.directory, 'sa.key');
    writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
    const flags = [
      `--service-account-signing-key-file=${keyFile}`,
      '--authorization-mode=RBAC',
      '--service-account-max-token-expiration=24h',
      '--service-account-jwks-uri=https://keys.example.com/openid/v1/jwks',
    ];
    await Promise.all([cluster.addServer(undefined, flags), cluster.addServer(undefined, flags)]);
  });
  after(() => cluster?.stop());

  it('are handed out and accepted by every process', async () => {
    const uid = await account('robot');
    const { status, body } = await request('robot');
    assert.equal(status, 201);
    const { token, expirationTimestamp } = body.status;
    assert.equal(body.metadata.name, 'robot');
    assert.equal(body.metadata.namespace, 'default');
    assert.deepEqual(body.spec, { audiences: [issuer], expirationSeconds: 3600, boundObjectRef: null });
    assert.ok(Math.abs(Date.parse(expirationTimestamp) - Date.now() - 3_600_000) < 60_000);
    for (const server of [cluster.first, cluster.second]) {
      assert.equal(await whoIs(token, server), 'system:serviceaccount:default:robot');
    }
    const claims = JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString());
    assert.deepEqual(claims['kubernetes.io'], { namespace: 'default', serviceaccount: { name: 'robot', uid } });
  });

  it('are checked but not handed out by a dry run', async () => {
    await account('rehearsal');
    const dry = (name: string, spec: object) =>
      cluster.first.client.post(`${accounts}/${name}/token?dryRun=All`, { spec });
    const { status, body } = await dry('rehearsal', { expirationSeconds: 1200 });
    assert.equal(status, 201);
    assert.equal(body.status.token, '');
    assert.ok(Math.abs(Date.parse(body.status.expirationTimestamp) - Date.now() - 1_200_000) < 60_000);
    assert.deepEqual(body.spec, { audiences: [issuer], expirationSeconds: 1200, boundObjectRef: null });
    assert.equal((await dry('rehearsal', { expirationSeconds: 1 })).status, 422);
    assert.equal((await dry('nobody', {})).status, 404);
    const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'nobody' };
    assert.equal((await dry('rehearsal', { boundObjectRef })).status, 404);
  });

  it('can be checked by others with what the server publishes', async () => {
    const token = await tokenOf('robot', { audiences: ['vault'] });
    const { client } = cluster.second;
    const configuration = await client.get('/.well-known/openid-configuration');
    assert.equal(configuration.headers['content-type'], 'application/json');
    assert.equal(configuration.headers['cache-control'], 'public, max-age=3600');
    assert.equal(configuration.body.issuer, issuer);
    assert.equal(configuration.body.jwks_uri, 'https://keys.example.com/openid/v1/jwks');
    const { paths } = (await client.get('/')).body;
    for (const path of ['/.well-known/openid-configuration', '/openid/v1/jwks']) {
      assert.ok(paths.includes(path), path);
      assert.equal((await client.post(path, {})).status, 405);
    }
    const keys = await client.get('/openid/v1/jwks');
    assert.equal(keys.headers['content-type'], 'application/jwk-set+json');
    for (const [path, form] of [
      ['/openid/v1/jwks', 'application/jwk-set+json'],
      ['/.well-known/openid-configuration', 'application/json'],
    ] as const) {
      for (const [accept, status] of [
        [form, 200],
        [`text/html, ${form};q=0.5`, 200],
        ['*/*;q=0.1', 200],
        ['application/*', 406],
        ['text/plain', 406],
      ] as const) {
        const answer = await client.get(path, { headers: { accept } });
        assert.equal(answer.status, status, `${path} ${accept}`);
        if (status !== 406) continue;
        assert.equal(answer.body.message, `406: Not Acceptable\n\nAvailable representations: ${form}`);
      }
    }
    const checked = await jwtVerify(token, createLocalJWKSet(JSON.parse(keys.text)), { issuer, audience: 'vault' });
    assert.equal(checked.payload.sub, 'system:serviceaccount:default:robot');
    assert.ok(!keys.text.includes('"d"'));
    assert.equal((await client.get('/openid/v1/jwks', { token: tokens.bob })).status, 403);
  });

  it('for other audiences are refused', async () => {
    assert.equal(await whoIs(await tokenOf('robot', { audiences: ['vault'] })), '401');
    const both = await tokenOf('robot', { audiences: ['vault', issuer] });
    assert.equal(await whoIs(both), 'system:serviceaccount:default:robot');
  });

  it('end with the pod they are bound to, everywhere', async () => {
    const uid = await pod('worker', 'robot');
    const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'worker', uid };
    const token = await tokenOf('robot', { boundObjectRef });
    const servers = [cluster.first, cluster.second];
    for (const server of servers) assert.notEqual(await whoIs(token, server), '401');
    assert.equal((await cluster.first.client.delete(`${pods}/worker?gracePeriodSeconds=0`)).status, 200);
    // Far sooner than remembered results would expire.
    for (const server of servers) {
      await eventually(async () => (await whoIs(token, server)) === '401', 'the token is refused', 60_000);
    }
    await pod('worker', 'robot');
    assert.equal(await whoIs(token), '401');
  });

  it('end with their account', async () => {
    await account('leaver');
    const token = await tokenOf('leaver');
    for (const server of [cluster.first, cluster.second]) assert.notEqual(await whoIs(token, server), '401');
    await cluster.second.client.delete(`${accounts}/leaver`);
    for (const server of [cluster.first, cluster.second]) {
      await eventually(async () => (await whoIs(token, server)) === '401', 'the token is refused', 60_000);
    }
  });

  it('kept in a secret end with it', async () => {
    const accountUid = await account('classic');
    const claims = { namespace: 'default', secretName: 'classic-token', accountName: 'classic', accountUid };
    const token = await signSecretToken(claims, readSigningKey(keyFile), names);
    assert.equal(await whoIs(token), '401');
    const secrets = '/api/v1/namespaces/default/secrets';
    const made = await cluster.first.client.post(secrets, {
      metadata: {
        name: 'classic-token',
        annotations: {
          [names.serviceAccountNameAnnotation]: 'classic',
          [names.serviceAccountUidAnnotation]: accountUid,
        },
      },
      type: names.serviceAccountTokenSecretType,
      data: { token: Buffer.from(token).toString('base64') },
    });
    assert.equal(made.status, 201, made.text);
    for (const server of [cluster.first, cluster.second]) {
      assert.equal(await whoIs(token, server), 'system:serviceaccount:default:classic');
    }
    await cluster.first.client.delete(`${secrets}/classic-token`);
    for (const server of [cluster.first, cluster.second]) {
      await eventually(async () => (await whoIs(token, server)) === '401', 'the token is refused', 60_000);
    }
  });

  it('are refused in any other form', async () => {
    const good = await tokenOf('robot');
    const [header, payload] = good.split('.');
    for (const token of [
      `${header}.${payload}.`,
      `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`,
      `${good}${good}`,
      `${good.slice(0, -8)}AAAAAAAA`,
      'x'.repeat(20_000),
      `${header}.${'A'.repeat(15_000)}.x`,
    ]) {
      assert.equal(await whoIs(token), '401');
    }
    assert.equal(await whoIs(good), 'system:serviceaccount:default:robot');
  });

  it('are asked for by rules', async () => {
    const uid = await pod('other-pod', 'someone');
    const reference = (rest: object) => ({
      boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'other-pod', ...rest },
    });
    const cases: [string, object, number, string][] = [
      ['robot', { expirationSeconds: 599 }, 422, 'may not specify a duration less than 10 minutes'],
      ['nobody', { expirationSeconds: 599 }, 404, 'serviceaccounts "nobody" not found'],
      ['robot', { expirationSeconds: 2 ** 32 + 1 }, 422, 'may not specify a duration larger than 2^32 seconds'],
      ['missing', {}, 404, 'serviceaccounts "missing" not found'],
      ['robot', reference({}), 400, 'cannot bind token for serviceaccount "robot" to pod running with different'],
      ['robot', reference({ kind: 'ConfigMap' }), 400, 'cannot bind token to object of type /v1, Kind=ConfigMap'],
      ['robot', reference({ apiVersion: 'apps/v1' }), 400, 'cannot bind token to object of type apps/v1, Kind=Pod'],
      ['robot', reference({ name: '' }), 400, 'Name parameter required.'],
      ['robot', reference({ name: 'none' }), 404, 'pods "none" not found'],
      ['robot', reference({ kind: 'Secret', name: 'none' }), 404, 'secrets "none" not found'],
      ['robot', reference({ kind: 'Node', name: 'none' }), 404, 'nodes "none" not found'],
    ];
    for (const [name, spec, code, message] of cases) {
      const { status, body } = await request(name, spec);
      assert.equal(status, code, message);
      assert.ok(body.message.includes(message), body.message);
    }
    await account('someone');
    assert.equal((await request('someone', reference({ uid }))).status, 201);
    const conflict = await request('someone', reference({ uid: 'x' }));
    assert.equal(conflict.status, 409);
    assert.match(
      conflict.body.message,
      /^Operation cannot be fulfilled on Pod "other-pod": the UID in the bound object/,
    );
    const long = await request('robot', { expirationSeconds: 7 * 86_400 });
    assert.equal(long.body.spec.expirationSeconds, 86_400);
    assert.match(String(long.headers.warning), /requested expiration of 604800 seconds shortened to 86400 seconds/);
    assert.equal((await cluster.first.client.get(`${accounts}/robot/token`)).status, 405);
    const stranger = await cluster.first.client.post(`${accounts}/robot/token`, { spec: {} }, { token: tokens.bob });
    assert.equal(stranger.status, 403);
  });

  it('work with kubectl', async () => {
    const admin = new Kubectl(cluster.first.kubeconfig);
    const token = admin.ok(['create', 'token', 'robot', '--duration=20m']).trim();
    const kubeconfig = join(cluster.directory, 'without-credentials');
    writeFileSync(
      kubeconfig,
      formatKubeconfig({ server: cluster.first.url, authority: cluster.pki.authority, client: undefined }),
    );
    const { code, stderr } = new Kubectl(kubeconfig).run(['get', 'pods', `--token=${token}`]);
    assert.equal(code, 1);
    assert.match(stderr, /User "system:serviceaccount:default:robot" cannot list resource "pods"/);
  });
});
