import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { SignJWT } from 'jose';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import { openTestStorage, type TestStorage } from '../../../../test/support/test-storage.js';
import { invalidSinceLabel } from '../../../base/machinery/legacy-tokens.js';
import { vendorNames } from '../../../base/machinery/vendor.js';
import { ResourceRegistry } from '../../../objects/registry/resource-registry.js';
import type { TokenResult } from '../token-authenticator.js';
import { KeyFileError } from './key-file-error.js';
import { signSecretToken } from './secret-token.js';
import { ServiceAccountTokenAuthenticator } from './service-account-token.authenticator.js';
import { readSigningKey, type SigningKey, TokenIssuer } from './token-issuer.js';
import { readVerificationKeys } from './verification-keys.js';

const names = vendorNames('k8s.io');
const issuer = names.defaultTokenIssuer;
const audiences = [issuer];
const start = Date.parse('2030-01-01T00:00:00Z');
const clock = { time: start, now: () => clock.time };
const uses: string[] = [];
const counters = {
  validToken: () => uses.push('valid'),
  staleToken: () => uses.push('stale'),
  secretToken: () => uses.push('secret'),
  secretTokenMade: (by: string) => uses.push(by),
  invalidSecretToken: () => uses.push('invalid'),
};

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

describe('service account tokens', () => {
  let postgres: TestPostgres;
  let storage: TestStorage;
  let directory: string;
  let key: SigningKey;
  let otherKey: KeyObject;

  function keyFile(name: string, content: string): string {
    const path = join(directory, name);
    writeFileSync(path, content);
    return path;
  }

  function authenticator(
    settings: Partial<ConstructorParameters<typeof ServiceAccountTokenAuthenticator>[0]> = {},
  ): ServiceAccountTokenAuthenticator {
    return new ServiceAccountTokenAuthenticator({
      registry: new ResourceRegistry(),
      keys: [key.verification],
      issuers: [issuer],
      apiAudiences: audiences,
      lookup: true,
      storage,
      names,
      clock,
      counters,
      uses: { record: ({ metadata }) => uses.push(`use of ${metadata.name}`) },
      ...settings,
    });
  }

  function tokenIssuer(settings: Partial<ConstructorParameters<typeof TokenIssuer>[0]> = {}): TokenIssuer {
    return new TokenIssuer({
      signingKey: () => key,
      issuer,
      audiences,
      extendExpiration: true,
      maxExpirationSeconds: undefined,
      names,
      clock,
      ...settings,
    });
  }

  const account = { namespace: 'ns', name: 'robot', uid: 'robot-uid', audiences: [] as string[] };
  const claims = (rest: object = {}) => ({
    iss: issuer,
    aud: audiences,
    exp: start / 1000 + 3600,
    nbf: start / 1000,
    sub: 'system:serviceaccount:ns:robot',
    [names.tokenClaim]: { namespace: 'ns', serviceaccount: { name: 'robot', uid: 'robot-uid' } },
    ...rest,
  });
  const sign = (payload: object, by: KeyObject = key.key, header: object = {}) =>
    new SignJWT({ ...payload }).setProtectedHeader({ alg: 'RS256', ...header }).sign(by);
  const reasonOf = (result: TokenResult) => (result.kind === 'rejected' ? result.reason : result.kind);

  async function put(resource: string, namespace: string, name: string, uid: string, rest: object = {}): Promise<void> {
    const metadata = { name, uid, ...(namespace === '' ? {} : { namespace }) };
    await storage.create({ resource, namespace, name }, uid, JSON.stringify({ metadata, ...rest }));
  }

  async function remove(resource: string, namespace: string, name: string): Promise<void> {
    await storage.guaranteedUpdate({ resource, namespace, name }, {}, (current) => ({
      kind: 'delete',
      json: current?.json ?? '',
    }));
  }

  before(async () => {
    postgres = await startTestPostgres();
    storage = await openTestStorage(await postgres.createTestDatabase());
    directory = mkdtempSync(join(tmpdir(), 'plinth-keys-'));
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    otherKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    key = readSigningKey(keyFile('sa.key', privateKey.export({ type: 'pkcs1', format: 'pem' }) as string));
    await put('serviceaccounts', 'ns', 'robot', 'robot-uid');
  });
  after(async () => {
    await storage?.stop();
    await postgres?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  it('name their account and its groups', async () => {
    const { token, id, expiresAt } = await tokenIssuer().issue({ ...account, expirationSeconds: 600 });
    assert.equal(expiresAt.getTime(), start + 600_000);
    const result = await authenticator().authenticateToken(token, audiences);
    assert.ok(result.kind === 'user');
    assert.equal(result.user.name, 'system:serviceaccount:ns:robot');
    assert.equal(result.user.uid, 'robot-uid');
    assert.deepEqual(result.user.groups, ['system:serviceaccounts', 'system:serviceaccounts:ns']);
    assert.equal(String(result.user.extra['authentication.kubernetes.io/credential-id']), `JTI=${id}`);
    assert.deepEqual(result.audiences, audiences);
    assert.equal(result.expiresAt, start + 600_000);
    assert.deepEqual(result.dependsOn, ['serviceaccounts/ns/robot']);
  });

  it('are for their audiences only', async () => {
    const request = { ...account, audiences: ['a', 'b'], expirationSeconds: 600 };
    const { token } = await tokenIssuer().issue(request);
    const wrong = await authenticator().authenticateToken(token, audiences);
    assert.equal(reasonOf(wrong), `token audiences ["a" "b"] is invalid for the target audiences ["${issuer}"]`);
    const right = await authenticator().authenticateToken(token, ['b', 'c']);
    assert.deepEqual(right.kind === 'user' && right.audiences, ['b']);
  });

  it('end when they say', async () => {
    const { token } = await tokenIssuer().issue({ ...account, expirationSeconds: 600 });
    try {
      clock.time = start + 599_999;
      assert.equal((await authenticator().authenticateToken(token, audiences)).kind, 'user');
      clock.time = start + 600_000;
      assert.equal(reasonOf(await authenticator().authenticateToken(token, audiences)), 'Token has expired.');
      clock.time = start - 61_000;
      assert.equal(
        reasonOf(await authenticator().authenticateToken(token, audiences)),
        'Token could not be validated.',
      );
    } finally {
      clock.time = start;
    }
  });

  it('live a year when mounted into pods, and late uses are recorded', async () => {
    await put('pods', 'ns', 'mounted', 'mounted-uid');
    const bound = { kind: 'Pod', name: 'mounted', uid: 'mounted-uid' } as const;
    const request = { ...account, expirationSeconds: 3607, bound, node: { name: 'n', uid: 'n-uid' } };
    const { token, expiresAt } = await tokenIssuer().issue(request);
    assert.equal(expiresAt.getTime(), start + 3_607_000);
    const result = await authenticator().authenticateToken(token, audiences);
    assert.ok(result.kind === 'user');
    assert.equal(result.expiresAt, start + 365 * 86_400_000);
    const { 'authentication.kubernetes.io/credential-id': _, ...extra } = result.user.extra;
    assert.deepEqual(extra, {
      'authentication.kubernetes.io/node-name': ['n'],
      'authentication.kubernetes.io/node-uid': ['n-uid'],
      'authentication.kubernetes.io/pod-name': ['mounted'],
      'authentication.kubernetes.io/pod-uid': ['mounted-uid'],
    });
    uses.length = 0;
    assert.equal(result.noteUse?.(start + 3_607_000), undefined);
    assert.deepEqual(result.noteUse?.(start + 3_617_000), {
      'authentication.k8s.io/stale-token':
        'subject: system:serviceaccount:ns:robot, seconds after warning threshold: 10',
    });
    assert.deepEqual(uses, ['valid', 'stale']);
    const expiry = async (settings: object, change: object = {}) => {
      const made = await tokenIssuer(settings).issue({ ...request, ...change });
      return JSON.parse(Buffer.from(made.token.split('.')[1] ?? '', 'base64url').toString()).exp - start / 1000;
    };
    assert.equal(await expiry({ extendExpiration: false }), 3607);
    assert.equal(await expiry({ maxExpirationSeconds: 7200 }), 7200);
    assert.equal(await expiry({}, { bound: undefined }), 3607);
    assert.equal(await expiry({}, { audiences: ['vault'] }), 3607);
    assert.equal(await expiry({}, { expirationSeconds: 3600 }), 3600);
  });

  for (const [kind, resource, namespace] of [
    ['Pod', 'pods', 'ns'],
    ['Secret', 'secrets', 'ns'],
    ['Node', 'nodes', ''],
  ] as const) {
    it(`die with the ${kind} they are bound to, also when another one takes its name`, async () => {
      const bound = { kind, name: 'thing', uid: 'thing-1' };
      const { token } = await tokenIssuer().issue({ ...account, expirationSeconds: 600, bound });
      const ask = () => authenticator().authenticateToken(token, audiences);
      assert.equal(reasonOf(await ask()), 'service account token has been invalidated');
      await put(resource, namespace, 'thing', 'thing-1');
      const alive = await ask();
      assert.equal(alive.kind, 'user');
      assert.ok(alive.kind === 'user' && alive.dependsOn?.includes(`${resource}/${namespace}/thing`));
      await remove(resource, namespace, 'thing');
      await put(resource, namespace, 'thing', 'thing-2');
      assert.equal(reasonOf(await ask()), 'service account token has been invalidated');
    });
  }

  it('die with their account, a minute after its deletion began', async () => {
    await put('serviceaccounts', 'ns', 'gone', 'gone-1');
    const request = { ...account, name: 'gone', uid: 'gone-1', expirationSeconds: 6000 };
    const { token } = await tokenIssuer().issue(request);
    const ask = () => authenticator().authenticateToken(token, audiences);
    assert.equal((await ask()).kind, 'user');
    await storage.guaranteedUpdate({ resource: 'serviceaccounts', namespace: 'ns', name: 'gone' }, {}, () => ({
      kind: 'write',
      uid: 'gone-1',
      json: JSON.stringify({
        metadata: { name: 'gone', uid: 'gone-1', deletionTimestamp: new Date(start).toISOString() },
      }),
    }));
    assert.equal((await ask()).kind, 'user');
    clock.time = start + 60_001;
    assert.equal(reasonOf(await ask()), 'service account token has been invalidated');
    clock.time = start;
    await remove('serviceaccounts', 'ns', 'gone');
    assert.equal(reasonOf(await ask()), 'serviceaccounts "gone" not found');
    await put('serviceaccounts', 'ns', 'gone', 'gone-2');
    assert.equal(reasonOf(await ask()), 'service account UID (gone-2) does not match claim (gone-1)');
  });

  it('die with the secret that they are kept in, unless look-ups are switched off', async () => {
    const claimed = { namespace: 'ns', secretName: 's', accountName: 'robot', accountUid: 'robot-uid' };
    const token = await signSecretToken(claimed, key, names);
    const ask = (lookup = true) => authenticator({ lookup }).authenticateToken(token, audiences);
    assert.equal(reasonOf(await ask()), 'service account token has been invalidated');
    assert.equal((await ask(false)).kind, 'user');
    await put('secrets', 'ns', 's', 's-uid', { data: { token: Buffer.from('another').toString('base64') } });
    assert.equal(reasonOf(await ask()), "Token does not match server's copy");
    await remove('secrets', 'ns', 's');
    await put('secrets', 'ns', 's', 's-uid', { data: { token: Buffer.from(token).toString('base64') } });
    const result = await ask();
    assert.ok(result.kind === 'user');
    assert.equal(result.expiresAt, undefined);
    assert.deepEqual(result.dependsOn, ['secrets/ns/s', 'serviceaccounts/ns/robot']);
    const key0 = 'authentication.k8s.io/legacy-token';
    const annotations = { [key0]: 'system:serviceaccount:ns:robot', [`${key0}-manual-secret`]: 's' };
    assert.deepEqual(result.noteUse?.(start), annotations);
    assert.equal(result.warning, undefined);
    const elsewhere = await authenticator().authenticateToken(token, ['vault']);
    assert.match(reasonOf(elsewhere), /is invalid for the target audiences \["vault"\]/);
  });

  it('say so where they were made by themselves, and are refused once marked invalid, in secrets', async () => {
    const listing = { namespace: 'ns', secretName: 'listed', accountName: 'lister', accountUid: 'lister-uid' };
    const token = await signSecretToken(listing, key, names);
    const data = { token: Buffer.from(token).toString('base64') };
    await put('serviceaccounts', 'ns', 'lister', 'lister-uid', { secrets: [{ name: 'listed' }] });
    await put('secrets', 'ns', 'listed', 'listed-uid', { data });
    uses.length = 0;
    const result = await authenticator().authenticateToken(token, audiences);
    assert.ok(result.kind === 'user');
    assert.match(result.warning ?? '', /instead of auto-generated/);
    const noted = result.noteUse?.(start) ?? {};
    assert.equal(noted['authentication.k8s.io/legacy-token-autogenerated-secret'], 'listed');
    assert.deepEqual(uses, ['use of listed', 'secret', 'itself']);
    await remove('secrets', 'ns', 'listed');
    const metadata = {
      ...{ name: 'listed', namespace: 'ns', uid: 'other-uid' },
      labels: { 'k8s.io/legacy-token-invalid-since': '2029-12-31', [invalidSinceLabel(names)]: '2029-12-31' },
    };
    await storage.create(
      { resource: 'secrets', namespace: 'ns', name: 'listed' },
      'other-uid',
      JSON.stringify({ metadata, data }),
    );
    uses.length = 0;
    const refused = await authenticator().authenticateToken(token, audiences);
    assert.match(
      reasonOf(refused),
      /^the token in secret ns\/listed for service account ns\/lister has been marked invalid/,
    );
    assert.deepEqual(uses, ['use of listed', 'invalid']);
  });

  it('do not touch tokens of other issuers', async () => {
    const foreign = await sign(claims({ iss: 'https://accounts.example.com' }));
    for (const token of [
      foreign,
      '',
      'x',
      'a.b.c',
      'a.b',
      `${encode({})}.${encode([])}.x`,
      `${encode(1)}.${encode(1)}.`,
    ]) {
      assert.equal((await authenticator().authenticateToken(token, audiences)).kind, 'none', token);
    }
  });

  it('refuse every trick with the signature', async () => {
    const valid = await sign(claims());
    assert.equal((await authenticator().authenticateToken(valid, audiences)).kind, 'user');
    const [header = '', payload = '', signature = ''] = valid.split('.');
    const publicPem = key.verification.key.export({ type: 'spki', format: 'pem' }) as string;
    const hmacToken = (alg: string, head: object = {}) => {
      const text = `${encode({ alg, ...head })}.${payload}`;
      const hash = `sha${alg.slice(2)}`;
      return `${text}.${createHmac(hash, publicPem).update(text).digest('base64url')}`;
    };
    const own = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const tricks: Record<string, string> = {
      'no signature': `${encode({ alg: 'none' })}.${payload}.`,
      'none in other letters': `${encode({ alg: 'nOnE' })}.${payload}.${signature}`,
      'no algorithm': `${encode({})}.${payload}.${signature}`,
      'cut signature': `${header}.${payload}.${signature.slice(0, 40)}`,
      'empty signature': `${header}.${payload}.`,
      'another payload': `${header}.${encode(claims({ exp: start }))}.${signature}`,
      'public key as shared secret': hmacToken('HS256'),
      'public key as shared secret, named': hmacToken('HS512', { kid: key.verification.id }),
      'another key': await sign(claims(), otherKey),
      'another key under our name': await sign(claims(), otherKey, { kid: key.verification.id }),
      'a key of its own': await sign(claims(), own.privateKey, { jwk: own.publicKey.export({ format: 'jwk' }) }),
      'another algorithm of our key': await sign(claims(), key.key, { alg: 'PS256' }),
      'path as key name': await sign(claims(), otherKey, { kid: '../../../../dev/null' }),
      'name of the prototype as key name': await sign(claims(), otherKey, { kid: '__proto__' }),
      'must-understand header': await sign(claims(), otherKey, { crit: ['b64'], b64: true }),
    };
    for (const [trick, token] of Object.entries(tricks)) {
      const result = await authenticator().authenticateToken(token, audiences);
      assert.equal(reasonOf(result), 'the signature of the token is not valid', trick);
    }
    const unnamed = await sign(claims(), key.key, { kid: 'of-another-process' });
    assert.equal((await authenticator().authenticateToken(unnamed, audiences)).kind, 'user');
  });

  it('refuse claims that do not belong together', async () => {
    const claim = names.tokenClaim;
    const bad: Record<string, object> = {
      'no expiry': { exp: undefined },
      'expiry as text': { exp: '9999999999' },
      'another subject': { sub: 'system:serviceaccount:ns:admin' },
      'no account': { [claim]: undefined },
      'account without namespace': { [claim]: { serviceaccount: { name: 'robot', uid: 'robot-uid' } } },
      'start as text': { nbf: 'now' },
      'no account uid': { [claim]: { namespace: 'ns', serviceaccount: { name: 'robot' } } },
    };
    for (const [what, change] of Object.entries(bad)) {
      const token = await sign(claims(change));
      assert.equal((await authenticator().authenticateToken(token, audiences)).kind, 'rejected', what);
    }
  });

  it('are checked with keys of all kinds', async () => {
    for (const [curve, algorithm] of [
      ['P-256', 'ES256'],
      ['P-384', 'ES384'],
      ['P-521', 'ES512'],
    ] as const) {
      const pair = generateKeyPairSync('ec', { namedCurve: curve });
      const path = keyFile(`${curve}.pem`, pair.privateKey.export({ type: 'sec1', format: 'pem' }) as string);
      const signingKey = readSigningKey(path);
      const { token } = await tokenIssuer({ signingKey: () => signingKey }).issue({
        ...account,
        expirationSeconds: 600,
      });
      const header = JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString());
      assert.deepEqual(header, { alg: algorithm, kid: signingKey.verification.id });
      const keys = [key.verification, ...readVerificationKeys(path)];
      assert.equal((await authenticator({ keys }).authenticateToken(token, audiences)).kind, 'user', curve);
    }
  });

  it('read key files with several keys and refuse bad ones without showing them', () => {
    const publicKey = key.verification.key.export({ type: 'spki', format: 'pem' }) as string;
    const privateKey = otherKey.export({ type: 'pkcs8', format: 'pem' }) as string;
    const keys = readVerificationKeys(keyFile('both.pem', `text\n${publicKey}\n${privateKey}`));
    assert.deepEqual([keys.length, keys[0]?.id], [2, key.verification.id]);
    const small = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey.export({
      type: 'pkcs8',
      format: 'pem',
    });
    const edwards = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
    const broken = '-----BEGIN PUBLIC KEY-----\nc2VjcmV0\n-----END PUBLIC KEY-----\n';
    for (const content of ['', 'nothing', String(small), String(edwards), broken]) {
      const path = keyFile('bad.pem', content);
      const shown = content.split('\n')[1] ?? 'secret';
      assert.throws(
        () => readVerificationKeys(path),
        (error) => error instanceof KeyFileError && error.message.includes(path) && !error.message.includes(shown),
      );
    }
    assert.throws(() => readVerificationKeys(join(directory, 'missing')), KeyFileError);
    assert.throws(() => readSigningKey(keyFile('public.pem', publicKey)), KeyFileError);
  });
});
