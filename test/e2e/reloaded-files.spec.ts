import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { decodeProtectedHeader } from 'jose';
import { vendorNames } from '../../src/base/machinery/vendor.js';
import { makeAuthority, makeRequest, toBase64 } from '../support/certificate-requests.js';
import { IdentityProvider } from '../support/identity-provider.js';
import { replaceFile } from '../support/replace-file.js';
import { TestIdentity } from '../support/test-authority.js';
import { sendFields } from './support/send-fields.js';
import { eventually, freePort, TestCluster, type TestServer } from './support/test-cluster.js';

const names = vendorNames('k8s.io');
const anything = '/api/v1/namespaces/none/configmaps';
const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const published = '/api/v1/namespaces/control-system/configmaps/extension-apiserver-authentication';

interface KeyPair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

describe('files that change under running processes', () => {
  let cluster: TestCluster;
  let server: TestServer;
  let provider: IdentityProvider;
  let proxies: TestIdentity;
  const path = (name: string) => join(cluster.directory, name);

  function write(name: string, text: string | Buffer): string {
    replaceFile(path(name), text);
    return path(name);
  }

  const makeKeys = (): KeyPair => generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const privatePem = ({ privateKey }: KeyPair) => privateKey.export({ type: 'pkcs8', format: 'pem' });
  const publicPem = (...pairs: readonly KeyPair[]) =>
    pairs.map(({ publicKey }) => publicKey.export({ type: 'spki', format: 'pem' })).join('');

  const first = makeKeys();
  const second = makeKeys();

  before(async () => {
    cluster = await TestCluster.start({ servers: 0 });
    provider = await IdentityProvider.prepare(await freePort());
    await provider.listen();
    proxies = await TestIdentity.root('proxies');
    const flags = ['--authorization-mode=RBAC'];
    server = await cluster.addServer(undefined, [
      ...flags,
      '--service-account-issuer=https://issuer.example.com',
      `--service-account-signing-key-file=${write('sa.key', privatePem(first))}`,
      `--service-account-key-file=${write('sa.pub', publicPem(first))}`,
      `--oidc-issuer-url=${provider.issuer}`,
      '--oidc-client-id=plinth',
      `--oidc-ca-file=${write('provider.crt', (await TestIdentity.root('nobody')).cert)}`,
      `--requestheader-client-ca-file=${write('proxies.crt', proxies.cert)}`,
      '--requestheader-username-headers=X-Remote-User',
    ]);
    const signing = await makeAuthority();
    cluster.startControllers([
      ...flags,
      `--cluster-signing-cert-file=${write('signing.crt', signing.certificate)}`,
      `--cluster-signing-key-file=${write('signing.key', signing.privateKey)}`,
      `--service-account-private-key-file=${path('sa.key')}`,
      `--root-ca-file=${write('root.crt', cluster.pki.authority)}`,
    ]);
  });
  after(async () => {
    await provider?.close();
    await cluster?.stop();
  });

  async function token(): Promise<string> {
    const { status, body } = await server.client.post('/api/v1/namespaces/default/serviceaccounts/default/token', {
      spec: {},
    });
    assert.equal(status, 201, body.message);
    return body.status.token;
  }

  const statusOf = async (bearer: string) => (await server.client.get(anything, { token: bearer })).status;
  async function keyIds(): Promise<readonly string[]> {
    const { keys } = JSON.parse((await server.client.get('/openid/v1/jwks')).text);
    return keys.map(({ kid }: { kid: string }) => kid);
  }

  it('give service account tokens new keys without a gap, and end those of old ones', async () => {
    const account = '/api/v1/namespaces/default/serviceaccounts/default';
    await eventually(async () => (await server.client.get(account)).status === 200, 'the default account');
    const old = await token();
    assert.equal(await statusOf(old), 403);
    const { kid: oldId = '' } = decodeProtectedHeader(old);
    assert.deepEqual(await keyIds(), [oldId]);

    write('sa.pub', publicPem(first, second));
    await eventually(async () => (await keyIds()).length === 2, 'the new key among those published');
    assert.equal(decodeProtectedHeader(await token()).kid, oldId);
    write('sa.key', privatePem(second));
    const next = await eventually(async () => {
      const made = await token();
      return decodeProtectedHeader(made).kid !== oldId && made;
    }, 'a token of the new key');
    assert.deepEqual([await statusOf(old), await statusOf(next)], [403, 403]);

    write('sa.pub', 'no key at all');
    await eventually(
      () => /the changed keys of service account tokens cannot be used/.test(server.log),
      'a word in the log',
    );
    assert.deepEqual([await statusOf(old), await statusOf(next)], [403, 403]);
    // Although the token was accepted a moment ago. A busy machine may need more than one attempt.
    for (let attempt = 1; ; attempt++) {
      const began = performance.now();
      write('sa.pub', publicPem(second));
      await eventually(async () => (await statusOf(old)) === 401, 'the end of the old token');
      if (performance.now() - began < 6_000) break;
      assert.ok(attempt < 5, 'the old token is good as long as it is remembered');
      write('sa.pub', publicPem(first, second));
      await eventually(async () => (await statusOf(old)) === 403, 'the old token is good again');
    }
    assert.equal(await statusOf(next), 403);
    assert.ok(!(await keyIds()).includes(oldId));
    assert.ok(!server.log.includes('PRIVATE KEY'));
  });

  it('let the provider of ID tokens have another authority', async () => {
    const idToken = () => provider.sign({ sub: 'jane' });
    assert.equal(await statusOf(await idToken()), 401);
    write('provider.crt', provider.ca);
    await eventually(async () => (await statusOf(await idToken())) === 403, 'the keys of the provider', 40_000);
  });

  it('let proxies have another authority, which extension servers learn too', async () => {
    const successor = await TestIdentity.root('other proxies');
    const front = await successor.issue({ subject: [{ CN: ['front'] }] });
    const whoIs = async () => {
      const tls = { ca: cluster.pki.authority, cert: front.chain, key: front.key };
      const url = `${server.url}/apis/authentication.k8s.io/v1/selfsubjectreviews`;
      const { status, body } = await sendFields(1, url, tls, [['X-Remote-User', 'jane']], {});
      return status === 201 ? body.status.userInfo.username : status;
    };
    assert.equal(await whoIs(), 401);
    const key = 'requestheader-client-ca-file';
    const authorities = async () => (await server.client.get(published)).body.data[key] as string;
    assert.equal((await authorities()).trim(), proxies.cert.trim());
    write('proxies.crt', successor.cert);
    await eventually(async () => (await whoIs()) === 'jane', 'the new authority in use');
    // Other processes may still know the old authority.
    const both = await eventually(async () => {
      const text = await authorities();
      return text.includes(successor.cert.trim()) && text;
    }, 'the new authority in the map');
    assert.ok(both.includes(proxies.cert.trim()));
  });

  it('let certificates be signed by another authority', async () => {
    const issuerOf = async (name: string, authority: string) => {
      const spec = {
        request: toBase64(await makeRequest()),
        signerName: names.apiserverClientSigner,
        usages: ['client auth'],
      };
      const { client } = server;
      assert.equal((await client.post(requests, { metadata: { name }, spec })).status, 201);
      const condition = { type: 'Approved', status: 'True', reason: 'Test' };
      const { body } = await client.get(`${requests}/${name}`);
      await client.put(`${requests}/${name}/approval`, { ...body, status: { conditions: [condition] } });
      const certificate = await eventually(
        async () => (await client.get(`${requests}/${name}`)).body.status.certificate as string | undefined,
        'the certificate',
      );
      return new X509Certificate(Buffer.from(certificate, 'base64')).verify(new X509Certificate(authority).publicKey);
    };
    const successor = await makeAuthority({ key: 'p384' });
    assert.equal(await issuerOf('before', successor.certificate), false);
    write('signing.crt', successor.certificate);
    write('signing.key', successor.privateKey);
    let tried = 0;
    await eventually(() => issuerOf(`after-${tried++}`, successor.certificate), 'a certificate of the new authority');
  });

  it('bring a new root authority to every namespace and into secrets with tokens', async () => {
    const { client } = server;
    const map = `/api/v1/namespaces/default/configmaps/${names.rootAuthorityMap}`;
    const secret = '/api/v1/namespaces/default/secrets';
    const read = async (of: string) => (await client.get(of)).body.data?.['ca.crt'] as string | undefined;
    await eventually(async () => (await read(map)) === cluster.pki.authority, 'the first one');
    await client.post(secret, {
      metadata: { name: 'kept', annotations: { [names.serviceAccountNameAnnotation]: 'default' } },
      type: names.serviceAccountTokenSecretType,
    });
    const both = cluster.pki.authority + (await TestIdentity.root('next')).cert;
    write('root.crt', both);
    await eventually(async () => (await read(map)) === both, 'both in the map');
    const encoded = Buffer.from(both).toString('base64');
    await eventually(async () => (await read(`${secret}/kept`)) === encoded, 'both in the secret');
  });
});
