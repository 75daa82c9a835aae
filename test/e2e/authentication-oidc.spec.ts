import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { formatKubeconfig } from '../../src/tools/cli/kubeconfig.js';
import { IdentityProvider } from '../support/identity-provider.js';
import { Kubectl } from './support/kubectl.js';
import { eventually, freePort, TestCluster, type TestServer, tokens } from './support/test-cluster.js';

const path = '/api/v1/namespaces/none/pods';

describe('ID tokens of a provider', () => {
  let cluster: TestCluster;
  let server: TestServer;
  let byEmail: TestServer;
  let provider: IdentityProvider;

  /** The user as a server sees it, or the code of the refusal. */
  async function whoIs(token: string, asked = server): Promise<string> {
    const { status, body } = await asked.client.get(path, { token });
    return status === 403 ? (/User "(.*?)" cannot/.exec(body.message)?.[1] ?? body.message) : String(status);
  }

  before(async () => {
    cluster = await TestCluster.start({ servers: 0 });
    provider = await IdentityProvider.prepare(await freePort());
    const caFile = join(cluster.directory, 'provider-ca.pem');
    writeFileSync(caFile, provider.ca);
    const common = [
      `--oidc-issuer-url=${provider.issuer}`,
      '--oidc-client-id=plinth',
      `--oidc-ca-file=${caFile}`,
      '--authorization-mode=RBAC',
    ];
    // The provider is down while the servers start.
    [server, byEmail] = await Promise.all([
      cluster.addServer(undefined, [
        ...common,
        '--oidc-groups-claim=groups',
        '--oidc-groups-prefix=oidc:',
        '--oidc-required-claim=tenant=one',
        '--oidc-signing-algs=RS256,ES256',
      ]),
      cluster.addServer(undefined, [...common, '--oidc-username-claim=email']),
    ]);
  });
  after(async () => {
    await provider?.close();
    await cluster?.stop();
  });

  it('are refused until the provider has answered once, and the log says why', async () => {
    assert.equal(await whoIs(await provider.sign({ sub: 'jane', tenant: 'one' })), '401');
    const reported = /ID tokens are refused: the provider is not reachable/;
    await eventually(() => reported.test(server.log), 'a word in the log');
    await provider.listen();
    await eventually(
      async () => (await whoIs(await provider.sign({ sub: 'jane', tenant: 'one' }))) !== '401',
      'the provider is found once it is there',
      40_000,
    );
    await eventually(
      async () => (await whoIs(await provider.sign({ email: 'a@b' }), byEmail)) === 'a@b',
      'by both',
      40_000,
    );
  });

  it('are users with the prefix of the issuer, in their groups', async () => {
    const token = await provider.issue({ sub: 'jane', tenant: 'one', groups: ['admins', 'dev'] });
    assert.equal(await whoIs(token), `${provider.issuer}#jane`);
    const binding = await server.client.post('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      metadata: { name: 'oidc-admins' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'oidc:admins' }],
    });
    assert.equal(binding.status, 201);
    await eventually(async () => (await whoIs(token)) === '200', 'the group counts');
    const single = await provider.issue({ sub: 'jim', tenant: 'one', groups: 'admins' });
    assert.equal(await whoIs(single), '200');
  });

  it('work with kubectl', async () => {
    const kubeconfig = join(cluster.directory, 'without-credentials');
    writeFileSync(
      kubeconfig,
      formatKubeconfig({ server: server.url, authority: cluster.pki.authority, client: undefined }),
    );
    const kubectl = new Kubectl(kubeconfig);
    const token = await provider.issue({ sub: 'kim', tenant: 'one', groups: ['admins'] });
    assert.match(kubectl.ok(['get', 'namespaces', `--token=${token}`]), /default/);
    assert.notEqual(kubectl.run(['get', 'namespaces', `--token=${token}x`]).code, 0);
  });

  it('are users by their address unless it is known to be unverified', async () => {
    const ask = async (claims: object) => whoIs(await provider.issue({ sub: 's', ...claims }), byEmail);
    assert.equal(await ask({ email: 'jane@example.com', email_verified: true }), 'jane@example.com');
    assert.equal(await ask({ email: 'jane@example.com' }), 'jane@example.com');
    assert.equal(await ask({ email: 'jane@example.com', email_verified: false }), '401');
    assert.equal(await ask({ email: 'jane@example.com', email_verified: 'true' }), '401');
    assert.equal(await ask({}), '401');
  });

  it('are refused when they are not for us', async () => {
    const good = { sub: 'jane', tenant: 'one' };
    const now = Math.floor(Date.now() / 1000);
    const bad: Record<string, string> = {
      'of another client': await provider.issue(good, 'other'),
      'for other clients': await provider.sign({ ...good, aud: ['other', 'third'] }),
      'without the required claim': await provider.issue({ sub: 'jane' }),
      'with another required claim': await provider.issue({ sub: 'jane', tenant: 'two' }),
      'with a required claim of another type': await provider.issue({ sub: 'jane', tenant: ['one'] }),
      expired: await provider.sign({ ...good, exp: now - 1 }),
      'without an end': await provider.sign({ ...good, exp: undefined }),
      'not valid yet': await provider.sign({ ...good, nbf: now + 1000 }),
      'of another issuer': await provider.sign({ ...good, iss: `${provider.issuer}/` }),
      'with groups that are numbers': await provider.issue({ ...good, groups: [1] }),
      'with a user that is no text': await provider.sign({ ...good, sub: 5 }),
      'with an algorithm that is not accepted': await provider.sign(good, 'PS256'),
      'with a name of a key that is not there': await provider.sign(good, 'RS256', { kid: 'nope' }),
      tampered: (await provider.sign(good)).replace(/\.[^.]{10}/, (part) => `.${part.slice(1).toUpperCase()}`),
      unsigned: `${Buffer.from('{"alg":"none"}').toString('base64url')}.${(await provider.sign(good)).split('.')[1]}.`,
    };
    for (const [what, token] of Object.entries(bad)) assert.equal(await whoIs(token), '401', what);
    assert.equal(await whoIs(await provider.sign(good, 'ES256')), `${provider.issuer}#jane`);
    assert.equal(await whoIs(await provider.sign({ ...good, aud: ['other', 'plinth'] })), `${provider.issuer}#jane`);
  });

  it('leave tokens of other methods alone', async () => {
    assert.equal(await whoIs(tokens.alice), 'alice');
  });

  it('may have their groups at a source of claims', async () => {
    const groups = ['admins'];
    const serve = (at: string, answer: string, code = 200) =>
      provider.extraPaths.set(at, (_, response) => response.writeHead(code).end(answer));
    serve('/claims/good', await provider.sign({ groups }));
    serve('/claims/foreign', await provider.sign({ groups, aud: 'other' }));
    serve('/claims/none', await provider.sign({ other: groups }));
    serve('/claims/broken', 'no token');
    serve('/claims/huge', 'x'.repeat(2 * 1024 * 1024));
    serve('/claims/down', '', 503);
    provider.extraPaths.set('/claims/secret', (request, response) => {
      const isAllowed = request.headers.authorization === 'Bearer sesame';
      response.writeHead(isAllowed ? 200 : 403).end(isAllowed ? signedGroups : '');
    });
    const signedGroups = await provider.sign({ groups });
    const ask = async (source: object | undefined) => {
      const sources = source === undefined ? {} : { src: source };
      const claims = { sub: 'dora', tenant: 'one', _claim_names: { groups: 'src' }, _claim_sources: sources };
      return whoIs(await provider.sign(claims));
    };
    const at = (name: string) => ({ endpoint: `${provider.issuer}/claims/${name}` });
    assert.equal(await ask(at('good')), '200');
    assert.equal(await ask({ ...at('secret'), access_token: 'sesame' }), '200');
    assert.equal(await ask({ JWT: signedGroups }), '200');
    for (const source of [
      at('secret'),
      at('foreign'),
      at('none'),
      at('broken'),
      at('huge'),
      at('down'),
      { endpoint: `http://127.0.0.1:1/claims` },
      { endpoint: 'nowhere' },
      { JWT: await provider.sign({ groups, exp: 1 }) },
      {},
      undefined,
    ]) {
      assert.equal(await ask(source), '401', JSON.stringify(source)?.slice(0, 80));
    }
  });

  it('are checked with new keys soon after they change', async () => {
    const claims = { sub: 'rosa', tenant: 'one' };
    const old = await provider.sign(claims);
    provider.rotate();
    assert.equal(await whoIs(await provider.issue(claims)), `${provider.issuer}#rosa`);
    assert.equal(await whoIs(old), '401');
  });

  it('do not make the server read keys without end', async () => {
    const before = provider.keyReads;
    const began = performance.now();
    for (let i = 0; i < 30; i++) {
      assert.equal(await whoIs(await provider.sign({ sub: 'x', n: i }, 'RS256', { kid: `unknown-${i}` })), '401');
    }
    // Three reads in a row, then one every ten seconds.
    const most = 4 + (performance.now() - began) / 10_000;
    assert.ok(provider.keyReads - before <= most, `keys were read ${provider.keyReads - before} times`);
  });

  it('go on while the provider is away', async () => {
    await provider.close();
    assert.equal(await whoIs(await provider.sign({ sub: 'sam', tenant: 'one' })), `${provider.issuer}#sam`);
    const unknown = await provider.sign({ sub: 'sam', tenant: 'one' }, 'RS256', { kid: 'later' });
    assert.equal(await whoIs(unknown), '401');
  });
});
