import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { stringify } from 'yaml';
import { IdentityProvider } from '../support/identity-provider.js';
import { replaceFile } from '../support/replace-file.js';
import { eventually, freePort, TestCluster, type TestServer, tokens } from './support/test-cluster.js';

// Two issuers, rules about claims and users, and paths for anonymous requests, from a file that changes (`--authentication-config`).

const path = '/api/v1/namespaces/none/pods';
const otherIssuer = 'https://other.example';

let cluster: TestCluster;
let server: TestServer;
let provider: IdentityProvider;
let file: string;

before(async () => {
  cluster = await TestCluster.start({ servers: 0 });
  provider = await IdentityProvider.prepare(await freePort());
  const body = { issuer: otherIssuer, jwks_uri: `${provider.issuer}/jwks` };
  provider.extraPaths.set('/elsewhere', (_, answer) => {
    answer.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  });
  await provider.listen();
  file = join(cluster.directory, 'authentication.yaml');
  write(configuration());
  server = await cluster.addServer(undefined, ['--authorization-mode=RBAC', `--authentication-config=${file}`]);
});

after(async () => {
  await cluster?.stop();
  await provider?.close();
});

function write(document: object): void {
  replaceFile(file, stringify(document));
}

function configuration(change: { readonly first?: object; readonly rest?: object } = {}): object {
  return {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthenticationConfiguration',
    jwt: [
      {
        issuer: {
          url: provider.issuer,
          certificateAuthority: provider.ca,
          audiences: ['plinth', 'second'],
          audienceMatchPolicy: 'MatchAny',
        },
        claimValidationRules: [
          { claim: 'tenant', requiredValue: 'one' },
          { expression: 'claims.exp - claims.iat <= 3600', message: 'lives too long' },
        ],
        claimMappings: {
          username: { expression: '"jwt:" + claims.sub' },
          groups: { claim: 'roles', prefix: 'role:' },
          uid: { claim: 'sub' },
          extra: [{ key: 'example.com/tenant', valueExpression: 'claims.tenant' }],
        },
        userValidationRules: [{ expression: '!user.groups.exists(g, g == "role:banned")', message: 'banned' }],
        ...change.first,
      },
      {
        issuer: {
          url: otherIssuer,
          discoveryURL: `${provider.issuer}/elsewhere`,
          certificateAuthority: provider.ca,
          audiences: ['plinth'],
        },
        claimMappings: { username: { claim: 'sub', prefix: 'other#' } },
      },
    ],
    anonymous: { enabled: true, conditions: [{ path: '/livez' }, { path: '/readyz' }] },
    ...change.rest,
  };
}

const good = { sub: 'jane', tenant: 'one' };

/** The user of a token, or the code of the refusal. */
async function whoIs(claims: object): Promise<string> {
  const { status, body } = await server.client.get(path, { token: await provider.sign({ ...claims }) });
  return status === 403 ? (/User "(.*?)" cannot/.exec(body.message)?.[1] ?? body.message) : String(status);
}

async function review(claims: object) {
  const answer = await server.client.post('/apis/authentication.k8s.io/v1/tokenreviews', {
    spec: { token: await provider.sign({ ...claims }) },
  });
  assert.equal(answer.status, 201);
  return answer.body.status;
}

async function counted(status: 'success' | 'failure'): Promise<number> {
  const { text } = await server.client.get('/metrics');
  const name = 'apiserver_authentication_config_controller_automatic_reloads_total';
  return Number(
    new RegExp(`^${name}\\{status="${status}",apiserver_id_hash="sha256:\\w{64}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0,
  );
}

describe('configured issuers', () => {
  it('accept their own tokens, each with its mapping', async () => {
    await eventually(async () => (await whoIs(good)) === 'jwt:jane', 'the first issuer is found', 30_000);
    await eventually(async () => (await whoIs({ sub: 'x', iss: otherIssuer })) === 'other#x', 'the second one', 30_000);
    assert.equal(await whoIs({ ...good, aud: ['third', 'second'] }), 'jwt:jane');
    const { user, authenticated } = await review({ ...good, roles: ['a', 'b'], jti: 'id-1' });
    assert.ok(authenticated);
    assert.deepEqual(user, {
      username: 'jwt:jane',
      uid: 'jane',
      groups: ['role:a', 'role:b', 'system:authenticated'],
      extra: {
        'example.com/tenant': ['one'],
        'authentication.kubernetes.io/credential-id': ['JTI=id-1'],
      },
    });
  });

  it('refuse tokens that break a rule, with its message for reviewers alone', async () => {
    const now = Math.floor(Date.now() / 1000);
    for (const [claims, reason] of [
      [{ ...good, aud: 'third' }, /for another audience/],
      [{ sub: 'jane' }, /claim "tenant" does not have the required value/],
      [{ ...good, iat: now - 7200 }, /lives too long/],
      [{ ...good, iat: 'yesterday' }, /has no value for it/],
      [{ ...good, roles: ['banned'] }, /banned/],
      [{ ...good, sub: 1 }, /has no value for it/],
      [{ ...good, roles: [1] }, /neither a string nor a list/],
      [{ ...good, iss: otherIssuer, aud: 'second' }, /for another audience/],
    ] as const) {
      assert.equal(await whoIs(claims), '401', JSON.stringify(claims));
      const { authenticated, error } = await review(claims);
      assert.ok(!authenticated);
      assert.match(error, reason);
    }
    assert.equal(await whoIs({ ...good, iss: 'https://nobody.example' }), '401');
    const { body } = await server.client.get(path, { token: await provider.sign({ ...good, roles: ['banned'] }) });
    assert.equal(body.message, 'Unauthorized');
  });

  it('leave the other methods alone', async () => {
    assert.equal((await server.client.get(path, { token: tokens.bob })).status, 403);
  });
});

describe('anonymous requests', () => {
  it('are for the named paths only', async () => {
    const headers = { authorization: '' };
    for (const [asked, status] of [
      ['/livez', 200],
      ['/readyz?verbose', 200],
      ['/livez/ping', 401],
      ['/healthz', 401],
      ['/version', 401],
      [path, 401],
    ] as const) {
      const { status: found } = await server.client.get(asked, { headers });
      assert.equal(found, status, asked);
    }
  });
});

describe('a changed file', () => {
  it('with faults changes nothing, and is counted and logged', async () => {
    const failures = await counted('failure');
    write(configuration({ first: { nonsense: true, claimMappings: {} } }));
    await eventually(async () => (await counted('failure')) === failures + 1, 'it is counted', 30_000);
    assert.match(server.log, /the changed authentication configuration cannot be used/);
    assert.equal(await whoIs(good), 'jwt:jane');
    replaceFile(file, `# ${'x'.repeat(10_000_000)}\n`);
    await eventually(async () => (await counted('failure')) === failures + 2, 'a huge one too', 30_000);
    assert.equal(await whoIs(good), 'jwt:jane');
  });

  it('takes effect for tokens that were accepted before, too', async () => {
    const token = await provider.sign(good);
    const ask = async () => (await server.client.get(path, { token })).status;
    assert.equal(await ask(), 403);
    const successes = await counted('success');
    const rule = { claimValidationRules: [{ expression: 'claims.sub == "jim"' }] };
    write(configuration({ first: rule, rest: { anonymous: { enabled: false } } }));
    await eventually(async () => (await counted('success')) > successes, 'it is counted', 30_000);
    assert.equal(await ask(), 401);
    assert.equal(await whoIs({ sub: 'jim', tenant: 'two' }), 'jwt:jim');
    assert.equal(await whoIs({ sub: 'x', iss: otherIssuer }), 'other#x', 'an issuer that stayed');
    assert.equal((await server.client.get('/livez', { headers: { authorization: '' } })).status, 401);
  });
});
