import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { CompactSign, calculateJwkThumbprint, exportJWK } from 'jose';
import { vendorNames } from '../../src/base/machinery/vendor.js';
import { IdentityProvider } from '../support/identity-provider.js';
import { send } from './support/raw-http.js';
import { eventually, freePort, TestCluster, type TestServer, tokens } from './support/test-cluster.js';

const names = vendorNames('k8s.io');
const issuer = names.defaultTokenIssuer;
const accounts = '/api/v1/namespaces/default/serviceaccounts';
const anything = '/api/v1/namespaces/none/configmaps';
const second = () => Math.floor(Date.now() / 1000);

type Json = Readonly<Record<string, unknown>>;

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A token of any form, with the signature that `sign` computes from its first two parts. */
function tokenWith(header: Json, claims: unknown, sign: (text: string) => Buffer | string = () => ''): string {
  const text = `${encode(header)}.${typeof claims === 'string' ? claims : encode(claims)}`;
  return `${text}.${Buffer.from(sign(text)).toString('base64url')}`;
}

const hs256 = (secret: string | Buffer) => (text: string) => createHmac('sha256', secret).update(text).digest();

function signed(key: KeyObject, header: Json & { readonly alg: string }, claims: unknown): Promise<string> {
  return new CompactSign(Buffer.from(JSON.stringify(claims))).setProtectedHeader(header).sign(key);
}

describe('tokens that nobody issued', () => {
  let cluster: TestCluster;
  let server: TestServer;
  let provider: IdentityProvider;
  let uid: string;
  let good: Json;
  const own = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const ownEc = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const foreign = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const foreignEc = generateKeyPairSync('ec', { namedCurve: 'P-256' });

  async function whoIs(token: string): Promise<string> {
    const { status, body } = await server.client.get(anything, { token });
    if (status === 401) {
      assert.deepEqual([body.reason, body.message], ['Unauthorized', 'Unauthorized']);
      return '401';
    }
    return status === 403 ? (/User "(.*?)" cannot/.exec(body.message)?.[1] ?? body.message) : String(status);
  }

  async function refused(cases: Readonly<Record<string, string | Promise<string>>>): Promise<void> {
    for (const [what, token] of Object.entries(cases)) assert.equal(await whoIs(await token), '401', what);
  }

  before(async () => {
    cluster = await TestCluster.start({ servers: 0 });
    provider = await IdentityProvider.prepare(await freePort());
    await provider.listen();
    const file = (name: string, text: string) => {
      const path = join(cluster.directory, name);
      writeFileSync(path, text, { mode: 0o600 });
      return path;
    };
    const pem = (key: KeyObject) =>
      String(key.export({ type: key.type === 'public' ? 'spki' : 'pkcs8', format: 'pem' }));
    server = await cluster.addServer(undefined, [
      '--authorization-mode=RBAC',
      `--service-account-signing-key-file=${file('sa.key', pem(own.privateKey))}`,
      `--service-account-key-file=${file('ec.pub', pem(ownEc.publicKey))}`,
      `--oidc-issuer-url=${provider.issuer}`,
      '--oidc-client-id=plinth',
      '--oidc-groups-claim=groups',
      `--oidc-ca-file=${file('provider.pem', provider.ca)}`,
      '--oidc-signing-algs=RS256,ES256',
      '--enable-bootstrap-token-auth',
      '--log-level=debug',
    ]);
    const made = await server.client.post(accounts, { metadata: { name: 'robot' } });
    uid = made.body.metadata.uid;
    good = {
      iss: issuer,
      aud: [issuer],
      sub: 'system:serviceaccount:default:robot',
      exp: second() + 600,
      iat: second(),
      nbf: second(),
      jti: randomUUID(),
      'kubernetes.io': { namespace: 'default', serviceaccount: { name: 'robot', uid } },
    };
    await eventually(
      async () => (await whoIs(await provider.sign({ sub: 'jane' }))) !== '401',
      'the provider is known',
      40_000,
    );
  });
  after(async () => {
    await provider?.close();
    await cluster?.stop();
  });

  it('are distinguished from issued ones', async () => {
    assert.equal(await whoIs(await signed(own.privateKey, { alg: 'RS256' }, good)), good.sub);
    assert.equal(await whoIs(await signed(ownEc.privateKey, { alg: 'ES256' }, good)), good.sub);
    assert.equal(await whoIs(await provider.sign({ sub: 'jane' })), `${provider.issuer}#jane`);
  });

  it('without a signature', async () => {
    const oidc = { iss: provider.issuer, aud: 'plinth', exp: second() + 600, sub: 'jane' };
    for (const alg of ['none', 'None', 'NONE', 'nOnE', '', 'RS256', 'HS256', 'null']) {
      for (const claims of [good, oidc]) {
        const token = tokenWith({ alg, typ: 'JWT' }, claims);
        await refused({ [`alg ${alg}`]: token, [`alg ${alg}, two parts`]: token.slice(0, -1) });
      }
    }
    await refused({
      'no alg': tokenWith({}, good),
      'alg is a list': tokenWith({ alg: ['none'] }, good),
      'alg of the prototype': tokenWith({ alg: 'constructor' }, good),
      'two algs': `${Buffer.from('{"alg":"none","alg":"RS256"}').toString('base64url')}.${encode(good)}.`,
      // RFC 7797: an unencoded payload.
      'unencoded payload': tokenWith({ alg: 'RS256', b64: false, crit: ['b64'] }, good, () => 'x'),
    });
  });

  it('signed with what everybody knows', async () => {
    for (const key of [own.publicKey, ownEc.publicKey]) {
      const jwk = await exportJWK(key);
      const secrets = {
        pem: key.export({ type: 'spki', format: 'pem' }),
        'pem without its last line end': String(key.export({ type: 'spki', format: 'pem' })).trimEnd(),
        der: key.export({ type: 'spki', format: 'der' }),
        jwk: JSON.stringify(jwk),
        thumbprint: await calculateJwkThumbprint(jwk),
        modulus: Buffer.from(jwk.n ?? jwk.x ?? '', 'base64url'),
        nothing: '',
      };
      for (const [what, secret] of Object.entries(secrets)) {
        await refused({ [what]: tokenWith({ alg: 'HS256', typ: 'JWT' }, good, hs256(secret)) });
        await refused({ [what]: tokenWith({ alg: 'RS256', typ: 'JWT' }, good, hs256(secret)) });
      }
    }
    await refused({
      'an all-zero signature of an elliptic curve': tokenWith({ alg: 'ES256' }, good, () => Buffer.alloc(64)),
      'a signature in DER': tokenWith({ alg: 'ES256' }, good, () => Buffer.from('3006020101020101', 'hex')),
      'an empty RSA signature': tokenWith({ alg: 'RS256' }, good, () => Buffer.alloc(256)),
    });
  });

  it('signed with a key for another algorithm', async () => {
    const relabelled = async (key: KeyObject, alg: string, as: string) => {
      const [, payload, signature] = (await signed(key, { alg }, good)).split('.');
      return `${encode({ alg: as })}.${payload}.${signature}`;
    };
    await refused({
      'RS256 as ES256': relabelled(own.privateKey, 'RS256', 'ES256'),
      'ES256 as RS256': relabelled(ownEc.privateKey, 'ES256', 'RS256'),
      'the right key with PS256': signed(own.privateKey, { alg: 'PS256' }, good),
      'the right key with RS512': signed(own.privateKey, { alg: 'RS512' }, good),
      'provider, PS256': provider.sign({ sub: 'jane' }, 'PS256'),
    });
  });

  it('that bring their own key', async () => {
    const jwk = await exportJWK(foreign.publicKey);
    const url = `${provider.issuer}/attack`;
    let fetched = 0;
    provider.extraPaths.set('/attack', (_, answer) => {
      fetched++;
      answer.end(JSON.stringify({ keys: [{ ...jwk, alg: 'RS256', use: 'sig', kid: 'mine' }] }));
    });
    for (const claims of [good, { iss: provider.issuer, aud: 'plinth', exp: second() + 600, sub: 'jane' }]) {
      await refused({
        jwk: signed(foreign.privateKey, { alg: 'RS256', jwk }, claims),
        jku: signed(foreign.privateKey, { alg: 'RS256', jku: url, kid: 'mine' }, claims),
        x5u: signed(foreign.privateKey, { alg: 'RS256', x5u: url }, claims),
        x5c: signed(foreign.privateKey, { alg: 'RS256', x5c: [Buffer.from('x').toString('base64')] }, claims),
        'another elliptic key': signed(foreignEc.privateKey, { alg: 'ES256' }, claims),
      });
    }
    assert.equal(fetched, 0, 'no key is fetched because a token says so');
  });

  it('that name a key which is something else', async () => {
    const ids: unknown[] = [
      '../../../../../../dev/null',
      '/dev/null',
      "x' OR '1'='1",
      "x'; DROP TABLE plinth.object; --",
      '%00',
      '\0',
      '__proto__',
      'constructor',
      '',
      'x'.repeat(8000),
      null,
      5,
      ['a'],
      { toString: 'x' },
    ];
    for (const kid of ids) {
      for (const claims of [good, { iss: provider.issuer, aud: 'plinth', exp: second() + 600, sub: 'jane' }]) {
        await refused({
          [`kid ${JSON.stringify(kid)}, empty secret`]: tokenWith({ alg: 'HS256', kid }, claims, hs256('')),
          [`kid ${JSON.stringify(kid)}, no signature`]: tokenWith({ alg: 'RS256', kid }, claims, () => 'x'),
        });
      }
    }
    assert.equal((await server.client.get('/readyz')).status, 200);
  });

  it('with claims that do not hold', async () => {
    const sign = (claims: unknown) => signed(own.privateKey, { alg: 'RS256' }, claims);
    const claim = (rest: object) => ({ ...good, 'kubernetes.io': { ...(good['kubernetes.io'] as object), ...rest } });
    await refused({
      expired: sign({ ...good, exp: second() - 1 }),
      'without an end': sign({ ...good, exp: undefined }),
      'an end that is a text': sign({ ...good, exp: String(second() + 600) }),
      'an end that is null': sign({ ...good, exp: null }),
      'an end in a list': sign({ ...good, exp: [second() + 600] }),
      'not valid yet': sign({ ...good, nbf: second() + 120 }),
      'a beginning that is a text': sign({ ...good, nbf: 'now' }),
      'another audience': sign({ ...good, aud: ['vault'] }),
      'an audience that only begins so': sign({ ...good, aud: [`${issuer}.evil`, `${issuer}/`] }),
      'an audience of another case': sign({ ...good, aud: issuer.toUpperCase() }),
      'another issuer': sign({ ...good, iss: 'https://evil.example' }),
      'an issuer that only begins so': sign({ ...good, iss: `${issuer}/` }),
      'issuers in a list': sign({ ...good, iss: [issuer] }),
      'another subject': sign({ ...good, sub: 'system:serviceaccount:control-system:robot' }),
      'a subject that is no account': sign({ ...good, sub: 'admin' }),
      'no account': sign({ ...good, 'kubernetes.io': undefined }),
      'another uid': sign(claim({ serviceaccount: { name: 'robot', uid: 'x' } })),
      'another namespace': sign(claim({ namespace: 'control-system' })),
      'an account that is not there': sign({
        ...claim({ serviceaccount: { name: 'ghost', uid } }),
        sub: 'system:serviceaccount:default:ghost',
      }),
      'an account that climbs': sign({
        ...claim({ serviceaccount: { name: '../robot', uid } }),
        sub: 'system:serviceaccount:default:../robot',
      }),
      'a pod that is not there': sign(claim({ pod: { name: 'ghost', uid: 'x' } })),
      'a secret that is not there': sign(claim({ secret: { name: 'ghost', uid: 'x' } })),
      'a node that is not there': sign(claim({ node: { name: 'ghost', uid: 'x' } })),
      'a token that was kept in no secret': sign({
        iss: names.secretTokenIssuer,
        sub: good.sub,
        [`${names.secretTokenIssuer}/namespace`]: 'default',
        [`${names.secretTokenIssuer}/secret.name`]: 'ghost',
        [`${names.secretTokenIssuer}/service-account.name`]: 'robot',
        [`${names.secretTokenIssuer}/service-account.uid`]: uid,
      }),
      'claims that are a list': sign([good]),
      'claims that are null': sign(null),
      'claims that are no JSON': signedText('not json'),
      'the same claim twice, the last one good': signedText(
        JSON.stringify({ ...good, sub: 'admin' }).replace(/}$/, `,"sub":"root"}`),
      ),
    });
    function signedText(text: string): Promise<string> {
      return new CompactSign(Buffer.from(text)).setProtectedHeader({ alg: 'RS256' }).sign(own.privateKey);
    }
  });

  it('with parts that must be understood and are not', async () => {
    const sign = (header: Json) => {
      const text = `${encode({ alg: 'HS256', ...header })}.${encode(good)}`;
      return `${text}.${Buffer.from('x').toString('base64url')}`;
    };
    await refused({ 'unknown crit': sign({ crit: ['evil'], evil: 1 }), 'empty crit': sign({ crit: [] }) });
    const token = await signed(own.privateKey, { alg: 'RS256' }, good);
    await refused({
      // The inner token is valid, but not as the content of another token.
      nested: signed(foreign.privateKey, { alg: 'RS256', cty: 'JWT' }, token),
      'nested and signed by us': signed(own.privateKey, { alg: 'RS256', cty: 'JWT' }, token),
      'in JSON form': Buffer.from(JSON.stringify({ payload: token.split('.')[1], signatures: [] })).toString(
        'base64url',
      ),
      'five parts, as if encrypted': `${token}.a.b`,
      'with more behind it': `${token}.`,
      'with an alphabet of its own': token.replaceAll('-', '+').replaceAll('_', '/').replace(/^/, '='),
      'with another end of the signature': `${token.slice(0, -4)}AAAA`,
      'with text behind the signature': `${token}AAAA`,
    });
  });

  it('that are too long are refused unread', async () => {
    for (const length of [16 * 1024 + 1, 40 * 1024]) assert.equal(await whoIs('a'.repeat(length)), '401');
    const padded = await signed(own.privateKey, { alg: 'RS256', pad: 'x'.repeat(20_000) }, good);
    assert.equal(await whoIs(padded), '401');
    const answer = await send(server.url, cluster.pki.authority, [
      `GET ${anything} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${'a'.repeat(200 * 1024)}\r\n\r\n`,
    ]);
    assert.equal(answer.status, 431);
  });

  it('in headers that are not one Bearer with one token', async () => {
    const get = (value: string, http: 1 | 2) =>
      http === 1
        ? send(server.url, cluster.pki.authority, [
            `GET ${anything} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: ${value}\r\n\r\n`,
          ])
        : http2Get(value);
    const http2Get = async (value: string) => {
      const session = connectHttp2(server.url, { ca: cluster.pki.authority });
      try {
        const stream = session.request({ ':path': anything, authorization: value });
        const chunks: Buffer[] = [];
        let status = 0;
        stream.on('response', (headers) => {
          status = Number(headers[':status']);
        });
        for await (const chunk of stream) chunks.push(chunk as Buffer);
        return { status, body: Buffer.concat(chunks).toString('utf8') };
      } finally {
        session.destroy();
      }
    };
    const nobody = [
      '',
      'Bearer',
      'Bearer ',
      'Basic YWRtaW46YWRtaW4=',
      'Basic',
      `Token ${tokens.admin}`,
      `Digest username="admin"`,
      `Negotiate ${tokens.admin}`,
      tokens.admin,
      `Bearer:${tokens.admin}`,
      `Bearer\t${tokens.admin}`,
      `Bearer\u00a0${tokens.admin}`,
      `Basic, Bearer ${tokens.admin}`,
    ];
    const wrong = [
      `Bearer ${tokens.admin},`,
      `Bearer ${tokens.admin} ${tokens.admin}`,
      `Bearer ${tokens.admin} x`,
      `Bearer x ${tokens.admin}`,
      `Bearer "${tokens.admin}"`,
      `Bearer ${tokens.admin.toUpperCase()}`,
      `Bearer ${tokens.admin}\u00a0`,
      `Bearer ${tokens.admin}\u00ad`,
      `Bearer admin%2dtoken`,
      `Bearer Bearer ${tokens.admin}`,
    ];
    for (const http of [1, 2] as const) {
      for (const value of nobody) {
        const { status, body } = await get(value, http);
        assert.equal(status, 403, `${http} ${value}`);
        assert.match(body, /User \\"system:anonymous\\" cannot list/, value);
      }
      for (const value of wrong) assert.equal((await get(value, http)).status, 401, `${http} ${value}`);
    }
  });

  it('of two headers the first one alone counts, however a proxy may see it', async () => {
    const both = (first: string, last: string) =>
      send(server.url, cluster.pki.authority, [
        `GET ${anything} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n`,
        `Authorization: Bearer ${first}\r\nauthorization: Bearer ${last}\r\n\r\n`,
      ]);
    assert.match((await both(tokens.bob, 'wrong')).body, /User \\"bob\\" cannot/);
    assert.equal((await both('wrong', tokens.bob)).status, 401);
  });

  it('of bootstrap that are not whole, or not there', async () => {
    await refused({
      'no such id': 'abcdef.0123456789abcdef',
      'id that climbs': '../../.0123456789abcdef',
      'no secret part': 'abcdef.',
      'SQL in it': "abc'or.0123456789abcdef",
    });
  });

  it('leave no trace of themselves in the log', async () => {
    const [, payload, signature] = (await signed(own.privateKey, { alg: 'RS256' }, good)).split('.');
    assert.ok(!server.log.includes(String(payload)) && !server.log.includes(String(signature)));
    for (const token of Object.values(tokens)) assert.ok(!server.log.includes(token));
    assert.ok(server.log.includes('credentials refused'));
  });
});
