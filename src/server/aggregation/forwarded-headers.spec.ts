import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { answerHeaders, forwardedHeaders, identityHeaders } from './forwarded-headers.js';
import { identityFields, noNames } from './identity-fields.js';
import { UnspeakableUserError } from './unspeakable-user-error.js';

const user = { name: 'alice', uid: '7', groups: ['devs', 'ops'], extra: { 'acme/team': ['a', 'b'], none: [] } };
const own = {
  'x-remote-user': 'alice',
  'x-remote-uid': '7',
  'x-remote-group': ['devs', 'ops'],
  'x-remote-extra-acme%2Fteam': ['a', 'b'],
};
const usual = identityFields(noNames);
const forward = (rawHeaders: string[], more: { upgrade?: string; hasBody?: boolean } = {}) =>
  forwardedHeaders({
    rawHeaders,
    user,
    clientAddress: '192.0.2.9',
    host: 's.n.svc',
    upgrade: undefined,
    hasBody: false,
    identities: usual,
    ...more,
  });
const base = { host: 's.n.svc', 'x-forwarded-for': '192.0.2.9', ...own };

describe('the head of a forwarded request', () => {
  const cases: readonly (readonly [title: string, raw: string[], expected: object])[] = [
    ['keeps what is of the request', ['Accept', 'a/b', 'Accept', 'c/d'], { accept: ['a/b', 'c/d'] }],
    ['drops credentials', ['AUTHORIZATION', 'Bearer x', 'Proxy-Authorization', 'y'], {}],
    [
      'drops identities in any spelling',
      ['x-Remote-UsEr', 'root', 'X_REMOTE_GROUP', 'g', 'X-Remote-Anything', 'z'],
      {},
    ],
    ['drops impersonation', ['Impersonate-User', 'root', 'impersonate_extra_a', 'g'], {}],
    [
      'drops what concerns the connection',
      ['Connection', 'close, X-Mine', 'X-Mine', '1', 'TE', 'trailers', 'Upgrade', 'x'],
      {},
    ],
    // A client can't remove the server's own fields by naming them in `Connection`.
    ['keeps its own fields', ['Connection', 'x-remote-user, x-forwarded-for'], {}],
    [
      'takes any name',
      ['constructor', '1', 'constructor', '2', 'valueOf', '3'],
      { constructor: ['1', '2'], valueof: '3' },
    ],
    ['survives the name that objects can not have', ['__proto__', '1', '__proto__', '2'], {}],
    ['drops pseudo fields', [':path', '/x', ':authority', 'y'], {}],
    ['joins cookies', ['cookie', 'a=1', 'cookie', 'b=2'], { cookie: 'a=1; b=2' }],
    ['drops the length of no body', ['Content-Length', '0'], {}],
    ['drops an expectation, which was met already', ['Expect', '100-continue'], {}],
    [
      'adds the address of the client',
      ['X-Forwarded-For', '1.1.1.1', 'X-Forwarded-For', '2.2.2.2'],
      { 'x-forwarded-for': '1.1.1.1, 2.2.2.2, 192.0.2.9' },
    ],
    [
      'hides a token among the protocols',
      ['Sec-WebSocket-Protocol', 'base64url.bearer.authorization.k8s.io.abc, v4.x'],
      { 'sec-websocket-protocol': 'v4.x' },
    ],
  ];
  for (const [title, raw, expected] of cases) {
    it(title, () => assert.deepEqual({ ...forward(raw) }, { ...base, ...expected }));
  }

  it('drops the fields that the operator names', () => {
    const identities = identityFields({
      ...noNames,
      users: ['X-Remote-User', 'X-My_User'],
      groups: ['X-Remote-Group', 'X-Grp'],
      extraPrefixes: ['X-Remote-Extra-', 'X-More-', ''],
    });
    const raw = ['x_my-user', 'root', 'X-GRP', 'g', 'x-more_a', 'b', 'x-moreover', 'kept'];
    const headers = forwardedHeaders({
      rawHeaders: raw,
      user,
      clientAddress: '192.0.2.9',
      host: 's.n.svc',
      upgrade: undefined,
      hasBody: false,
      identities,
    });
    assert.deepEqual({ ...headers }, { ...base, 'x-moreover': 'kept' });
  });

  it('refuses a name that is no text', () => {
    assert.throws(() => identityHeaders({ ...user, name: 'a\ud800' }, usual), UnspeakableUserError);
  });

  it('frames a body in one way', () => {
    const framed = (raw: string[]) => {
      const { 'content-length': length, 'transfer-encoding': coding } = forward(raw, { hasBody: true });
      return [length, coding];
    };
    assert.deepEqual(framed(['Content-Length', '5']), ['5', undefined]);
    assert.deepEqual(framed([]), [undefined, 'chunked']);
    assert.deepEqual(framed(['Transfer-Encoding', 'gzip, chunked']), [undefined, 'chunked']);
    assert.deepEqual(framed(['Connection', 'content-length', 'Content-Length', '5']), [undefined, 'chunked']);
  });

  it('asks for the protocol that the client asks for', () => {
    const { connection, upgrade } = forward(['Connection', 'Upgrade', 'Upgrade', 'SPDY/3.1'], { upgrade: 'SPDY/3.1' });
    assert.deepEqual([connection, upgrade], ['Upgrade', 'SPDY/3.1']);
  });
});

describe('the fields that name a user', () => {
  it('are the first of those that extension servers are told, unless the usual one is among them', () => {
    const names = {
      users: ['X-My-User', 'X-U'],
      uids: [],
      groups: ['X-Grp', 'X-Remote-GROUP'],
      extraPrefixes: ['X-E-'],
    };
    assert.deepEqual(identityHeaders(user, identityFields(names)), {
      'x-my-user': 'alice',
      'x-remote-uid': '7',
      'x-remote-group': ['devs', 'ops'],
      'x-e-acme%2Fteam': ['a', 'b'],
    });
  });

  it('keep the values of keys that differ only in case', () => {
    const extra = { Team: ['a'], team: ['b', 'c'], TÄM: ['d'], tÄm: ['e'], täm: ['f'] };
    const { 'x-remote-extra-team': team, ...rest } = identityHeaders({ ...user, extra }, usual);
    assert.deepEqual(team, ['a', 'b', 'c']);
    assert.deepEqual(rest['x-remote-extra-t%C3%84m'], ['d', 'e']);
    assert.deepEqual(rest['x-remote-extra-t%C3%A4m'], 'f');
  });

  it('are in UTF-8', () => {
    const { 'x-remote-user': name } = identityHeaders({ name: 'jörg 李', uid: '', groups: [], extra: {} }, usual);
    assert.equal(Buffer.from(String(name), 'latin1').toString('utf8'), 'jörg 李');
  });

  for (const name of [' root', 'root ', 'a\nX-Remote-Group: system:masters', 'a\u0000', '\troot', 'a\u007f']) {
    it(`refuse ${JSON.stringify(name)}, which would arrive as something else`, () => {
      assert.throws(() => identityHeaders({ ...user, name }, usual), UnspeakableUserError);
      assert.throws(() => identityHeaders({ ...user, groups: ['g', name] }, usual), UnspeakableUserError);
      assert.throws(() => identityHeaders({ ...user, extra: { a: [name] } }, usual), UnspeakableUserError);
    });
  }
});

it('the head of an answer loses what concerns the connection', () => {
  assert.deepEqual(
    answerHeaders([
      'Connection',
      'X-Hop',
      'X-Hop',
      '1',
      'Keep-Alive',
      '5',
      'Warning',
      'a',
      'Warning',
      'b',
      'ETag',
      '"x"',
    ]),
    { warning: ['a', 'b'], etag: '"x"' },
  );
});
