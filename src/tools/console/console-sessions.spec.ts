import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request, type ServerResponse } from 'node:http';
import { type RequestOptions, request as secureRequest } from 'node:https';
import { after, before, beforeEach, describe, it } from 'node:test';
import { eventually } from '../../../test/e2e/support/test-cluster.js';
import { serverAuth, TestIdentity } from '../../../test/support/test-authority.js';
import { Logger } from '../../base/observability/logger.js';
import { startConsole } from './console-server.js';
import { type ConsoleAnswer, ConsoleScene } from './testing/console-scene.js';
import type { RecordingServer } from './testing/recording-server.js';
import { Upstream } from './upstream.js';

describe('a console of several clusters', () => {
  let scene: ConsoleScene;

  before(async () => {
    scene = await ConsoleScene.start({}, ['second', 'third']);
  });
  after(() => scene?.stop());

  it('has a session for each, whose credentials go nowhere else', async () => {
    const alice = await scene.login('token-of-alice');
    const bob = await scene.login('token-of-bob', 'second');
    const { cookie: one = '', 'x-plinth-console': keyOfOne = '' } = alice;
    const { cookie: two = '', 'x-plinth-console': keyOfTwo = '' } = bob;
    // As browsers send them: all cookies, and the key of the page's cluster.
    const cookie = `${one}; ${two}`;
    const get = async (headers: Record<string, string>) => {
      const { status, text } = await scene.send('GET', '/api/v1/pods', headers);
      return status === 200 ? (JSON.parse(text) as { name: string }).name : status;
    };
    assert.equal(await get({ cookie, 'x-plinth-console': keyOfOne }), 'alice');
    assert.equal(await get({ cookie, 'x-plinth-console': keyOfTwo }), 'bob');
    // A cookie under the name of another cluster's, and keys without their cookies.
    const nameOf = (text: string) => text.split('=')[0] ?? '';
    const swapped = `${nameOf(one)}=${two.split('=')[1]}; ${nameOf(two)}=${one.split('=')[1]}`;
    for (const key of [keyOfOne, keyOfTwo, '']) {
      assert.equal(await get({ cookie: swapped, 'x-plinth-console': key }), 401);
      assert.equal(await get({ 'x-plinth-console': key }), 401);
    }
    assert.equal(await get({ cookie: one, 'x-plinth-console': keyOfTwo }), 401);
    const sentTo = (api: RecordingServer) => new Set(api.arrived.map(({ headers }) => headers.authorization));
    const [second, third] = scene.others as [RecordingServer, RecordingServer];
    assert.deepEqual([...sentTo(scene.api)], ['Bearer token-of-alice']);
    assert.deepEqual([...sentTo(second)], ['Bearer token-of-bob']);
    assert.deepEqual(third.arrived, []);
    // A logout of one leaves the other.
    const { origin } = scene;
    const logout = { origin, cookie, 'x-plinth-console': keyOfTwo, 'content-type': 'application/json' };
    const left = await scene.send('POST', '/console/logout', logout, '{}');
    assert.equal(left.headers['set-cookie']?.[0]?.startsWith(`${nameOf(two)}=;`), true);
    assert.equal(await get({ cookie, 'x-plinth-console': keyOfTwo }), 401);
    assert.equal(await get({ cookie, 'x-plinth-console': keyOfOne }), 'alice');
    const shown = await scene.send('GET', '/console/session', alice);
    assert.equal((JSON.parse(shown.text) as { cluster: string }).cluster, 'first');
    const ways = await scene.send('GET', '/console/logins');
    assert.deepEqual(JSON.parse(ways.text), { clusters: ['first', 'second', 'third'] });
    const body = JSON.stringify({ login: 'token-of-eve', cluster: 'nowhere' });
    const none = await scene.send('POST', '/console/login', { origin, 'content-type': 'application/json' }, body);
    assert.equal(none.status, 400);
  });

  it('counts equal names in two clusters as two users', async () => {
    const mine = await scene.login('token-of-carol');
    for (let n = 0; n < 21; n++) await scene.login('token-of-carol', 'second');
    assert.equal((await scene.send('GET', '/api/v1/pods', mine)).status, 200);
  });
});

describe('sessions of the console', () => {
  let scene: ConsoleScene;
  let api: RecordingServer;
  let port = 0;
  let origin = '';

  before(async () => {
    scene = await ConsoleScene.start();
    ({ api, port, origin } = scene);
  });
  after(() => scene?.stop());
  beforeEach(() => {
    api.forget();
  });

  const send: ConsoleScene['send'] = (...args) => scene.send(...args);
  const login: ConsoleScene['login'] = (text) => scene.login(text);

  const kubeconfigOf = (user: object, server = 'https://evil.example.com') =>
    JSON.stringify({
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 'x', user: 'u' } }],
      clusters: [{ name: 'x', cluster: { server } }],
      users: [{ name: 'u', user }],
    });

  it('lets logins wait beside many others, rather than refuse them', async () => {
    const held: ServerResponse[] = [];
    api.answers.set('/apis', (response) => void held.push(response));
    const logins = Array.from({ length: 40 }, (_, n) =>
      send(
        'POST',
        '/console/login',
        { origin, 'content-type': 'application/json' },
        JSON.stringify({ login: `x${n}` }),
      ),
    );
    await eventually(() => held.length === 16, 'as many logins as may be under way');
    api.answers.delete('/apis');
    const mine = login('token-of-alice');
    for (const response of held) response.writeHead(401).end();
    assert.deepEqual(new Set((await Promise.all(logins)).map(({ status }) => status)), new Set([401]));
    assert.equal((await send('GET', '/api/v1/pods', await mine)).status, 200);
  });

  it('passes nothing on without both secrets of a session', async () => {
    const alice = await login('token-of-alice');
    const bob = await login('token-of-bob');
    api.forget();
    const { cookie = '', 'x-plinth-console': key = '' } = alice;
    const wrong = [
      {},
      { cookie },
      { 'x-plinth-console': key },
      { cookie: bob.cookie ?? '', 'x-plinth-console': key },
      { cookie, 'x-plinth-console': bob['x-plinth-console'] ?? '' },
      { cookie: `${cookie}; ${bob.cookie}`, 'x-plinth-console': key },
      { authorization: 'Bearer token-of-alice' },
      { cookie: `${cookie}x`, 'x-plinth-console': key },
    ];
    for (const headers of wrong) {
      for (const path of ['/api/v1/pods', '/apis', '/metrics', '/version', '/openapi/v3']) {
        assert.equal((await send('GET', path, headers as Record<string, string>)).status, 401, JSON.stringify(headers));
      }
      assert.equal((await send('GET', '/console/session', headers as Record<string, string>)).status, 401);
    }
    assert.equal(api.arrived.length, 0);
    for (const [user, keys] of [
      ['alice', alice],
      ['bob', bob],
    ] as const) {
      const { text } = await send('GET', '/api/v1/pods?limit=1', keys);
      assert.equal((JSON.parse(text) as { name: string }).name, user);
    }
    assert.deepEqual(
      api.arrived.map(({ headers }) => headers.authorization),
      ['Bearer token-of-alice', 'Bearer token-of-bob'],
    );
  });

  it('ends a session by logout and by time, and what is under way with it', async () => {
    const keys = await login('token-of-alice');
    api.answers.set('/api/v1/watched', (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.flushHeaders();
    });
    const watch = (own: Record<string, string>) =>
      new Promise<{ ended: Promise<unknown> }>((resolve) => {
        request({ host: '127.0.0.1', port, path: '/api/v1/watched', headers: own }, (response) => {
          response.resume();
          resolve({ ended: new Promise((ended) => response.once('close', ended)) });
          response.on('error', () => {});
        }).end();
      });
    const { ended } = await watch(keys);
    assert.equal(
      (await send('POST', '/console/logout', { ...keys, 'content-type': 'application/json' }, '{}')).status,
      200,
    );
    await ended;
    assert.equal((await send('GET', '/api/v1/pods', keys)).status, 401);
    const later = await login('token-of-alice');
    assert.equal((await send('GET', '/console/session', later)).status, 200);
    scene.now += 60_000;
    assert.equal((await send('GET', '/console/session', later)).status, 401);
    assert.equal((await send('GET', '/api/v1/pods', later)).status, 401);
  });

  it('ends a session, and what is under way with it, where the API server no longer accepts its credentials', async () => {
    const path = '/apis/metrics.example.com/v1/pods';
    const refuse = (response: ServerResponse) => void response.writeHead(401).end('{"kind":"Status","code":401}');
    api.answers.set(path, refuse);
    const keys = await login('token-of-alice');
    // A server behind the API server does not know who asks; the API server does.
    const foreign = await send('GET', path, keys);
    assert.deepEqual([foreign.status, foreign.headers['x-plinth-session']], [401, undefined]);
    assert.equal((await send('GET', '/console/session', keys)).status, 200);
    const { socket } = await scene.upgrade('/api/v1/namespaces/a/pods/p/exec?command=sh', {
      ...keys,
      'sec-websocket-protocol': `v5.channel.k8s.io, plinth-key.${keys['x-plinth-console']}`,
    });
    assert.ok(socket);
    const ended = once(socket.resume(), 'close');
    api.answers.set('/apis', refuse);
    try {
      const own = await send('GET', path, keys);
      assert.deepEqual([own.status, own.headers['x-plinth-session']], [401, 'none']);
      assert.match(own.text, /no longer accepts/);
      await ended;
      assert.equal((await send('GET', '/console/session', keys)).status, 401);
    } finally {
      api.answers.clear();
    }
    assert.equal((await send('GET', '/api/v1/pods', keys)).status, 401);
  });

  it('sends the credentials of the login and of nobody else', async () => {
    const identity = await api.authority.issue({ subject: [{ CN: ['carol'] }] });
    const encode = (text: string) => Buffer.from(text).toString('base64');
    const user = { 'client-certificate-data': encode(identity.cert), 'client-key-data': encode(identity.key) };
    const keys = await login(kubeconfigOf(user));
    const dave = await login(kubeconfigOf({ token: 'token-of-dave' }));
    api.forget();
    const smuggled = {
      authorization: 'Bearer token-of-root',
      'impersonate-user': 'root',
      'x-remote-user': 'root',
      'x-forwarded-for': '10.0.0.1',
      forwarded: 'for=10.0.0.1',
      connection: 'authorization',
      'sec-websocket-protocol': 'base64url.bearer.authorization.k8s.io.dG9rZW4tb2Ytcm9vdA',
    };
    await send('GET', '/api/v1/pods', { ...keys, ...smuggled });
    await send('GET', '/api/v1/pods', { ...dave, ...smuggled });
    const upgraded = { ...dave, ...smuggled, upgrade: 'websocket', connection: 'upgrade, authorization' };
    assert.equal((await send('GET', '/api/v1/pods', upgraded)).status, 401);
    assert.deepEqual(
      api.arrived.map(({ certificate, headers }) => [certificate, headers.authorization]),
      [
        ['carol', undefined],
        [undefined, 'Bearer token-of-dave'],
      ],
    );
    for (const { headers } of api.arrived) {
      const sent = Object.keys(headers).filter(
        (name) => !['host', 'user-agent', 'connection', 'accept'].includes(name),
      );
      assert.deepEqual(
        sent.filter((name) => name !== 'authorization'),
        [],
      );
      assert.doesNotMatch(String(headers.connection), /upgrade|authorization/);
    }
  });

  it('refuses logins that it can or must not use, and tells no secret', async () => {
    const tried = async (text: unknown) => {
      const body = JSON.stringify({ login: text });
      return send('POST', '/console/login', { origin, 'content-type': 'application/json' }, body);
    };
    const own = new URL(import.meta.url).pathname;
    for (const [text, status, says] of [
      ['', 400, /paste/],
      [7, 400, /text/],
      ['secret-of-nobody', 401, /not accept/],
      ['a: [', 400, /neither YAML/],
      ['kind: Pod\nspec: x', 400, /kind Config/],
      [kubeconfigOf({}), 400, /no credentials/],
      [kubeconfigOf({ tokenFile: own }), 400, /names a file/],
      [kubeconfigOf({ 'client-certificate': own, 'client-key': own }), 400, /names a file/],
      [kubeconfigOf({ exec: { command: 'sh' } }), 400, /a command/],
      [kubeconfigOf({ token: 'a\r\nimpersonate-user: root' }), 400, /characters/],
      [kubeconfigOf({ 'client-certificate-data': 'AAAA' }), 400, /need each other/],
      [kubeconfigOf({ username: 'a', password: 'secret-of-nobody' }), 401, /not accept/],
      [`a: &a [x]\nb: [*a,*a]\n${'#'.repeat(100)}`, 400, /neither YAML/],
      [`{${Array.from({ length: 30_000 }, (_, i) => i.toString(36)).join(',')}}`, 400, /too long/],
    ] as const) {
      const answer = await tried(text);
      assert.equal(answer.status, status, `${JSON.stringify(text)}: ${answer.text}`);
      assert.match((JSON.parse(answer.text) as { message: string }).message, says);
      assert.doesNotMatch(answer.text, /secret-of-nobody/);
      assert.equal(answer.headers['set-cookie'], undefined);
    }
    const foreign = await (await TestIdentity.root('other')).issue({ subject: [{ CN: ['mallory'] }] });
    const encode = (text: string) => Buffer.from(text).toString('base64');
    const data = { 'client-certificate-data': encode(foreign.cert), 'client-key-data': encode(foreign.key) };
    api.answers.set('/apis/authentication.example.io/v1/selfsubjectreviews', (response) => {
      response.writeHead(201, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ status: { userInfo: { username: 'system:anonymous' } } }));
    });
    assert.equal((await tried(kubeconfigOf(data))).status, 401);
    api.answers.clear();
    assert.ok(api.arrived.every(({ headers }) => headers.host === new URL(api.url).host));
    assert.equal((await tried('x'.repeat(300_000))).status, 413);
    const form = { origin, 'content-type': 'text/plain' };
    assert.equal((await send('POST', '/console/login', form, '{"login":"token-of-alice"}')).status, 415);
  });

  it('keeps the cookie from scripts and other sites', async () => {
    const body = JSON.stringify({ login: 'token-of-alice' });
    const { headers } = await send('POST', '/console/login', { origin, 'content-type': 'application/json' }, body);
    assert.match(
      headers['set-cookie']?.[0] ?? '',
      /^plinth-console-\d+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=60$/,
    );
    assert.equal(headers['cache-control'], 'no-store');
  });

  it('speaks TLS, and answers under the names that it is given', async () => {
    const names = [{ type: 'dns', value: 'console.example.com' }] as const;
    const own = await api.authority.issue({ subject: [{ CN: ['console'] }], usages: [serverAuth], names });
    const tls = {
      ca: api.authority.cert,
      cert: undefined,
      key: undefined,
      serverName: undefined,
      insecureSkipVerify: false,
    };
    const outside = 'https://console.example.com';
    const secure = await startConsole([new Upstream({ server: api.url, tls, files: {} })], {
      bindAddress: '127.0.0.1',
      port: 0,
      origins: [outside],
      tls: { cert: own.chain, key: own.key },
      sessionMs: 60_000,
      logger: new Logger('error'),
    });
    // The URL has the name that others use: its port may be that of a proxy.
    assert.equal(secure.url, `${outside}/`);
    const at = secure.port;
    try {
      const ask = (method: string, path: string, headers: Record<string, string>, body?: string) =>
        new Promise<ConsoleAnswer>((resolve, reject) => {
          const options = { host: '127.0.0.1', port: at, method, path, headers };
          const verified = { ...options, ca: api.authority.cert, servername: 'console.example.com', agent: false };
          const sent = secureRequest(verified as RequestOptions, async (response) => {
            const chunks: Buffer[] = [];
            for await (const chunk of response) chunks.push(chunk as Buffer);
            const text = Buffer.concat(chunks).toString('utf8');
            resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
          });
          sent.on('error', reject);
          sent.end(body);
        });
      const local = `127.0.0.1:${at}`;
      for (const host of ['console.example.com', local, `localhost:${at}`]) {
        assert.equal((await ask('GET', '/', { host })).status, 200, host);
      }
      for (const host of [`console.example.com:${at}`, 'console.example.com.evil.example', 'evil.example.com']) {
        assert.ok([400, 403].includes((await ask('GET', '/', { host })).status), host);
      }
      const login = (from: string) =>
        ask(
          'POST',
          '/console/login',
          { host: 'console.example.com', origin: from, 'content-type': 'application/json' },
          JSON.stringify({ login: 'token-of-alice' }),
        );
      for (const from of [
        'http://console.example.com',
        `https://console.example.com:${at}`,
        `http://${local}`,
        'null',
      ]) {
        assert.equal((await login(from)).status, 403, from);
      }
      const { status, headers } = await login(outside);
      assert.equal(status, 200);
      assert.match(
        headers['set-cookie']?.[0] ?? '',
        /^__Host-plinth-console-\d+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=60; Secure$/,
      );
    } finally {
      await secure.stop();
    }
  });

  it('change nothing in a console that is read-only', async () => {
    const readOnly = await ConsoleScene.start({ readOnly: true });
    try {
      const own = await readOnly.login('token-of-alice');
      const { 'x-plinth-console': key = '', ...cookie } = own;
      const session = await readOnly.send('GET', '/console/session', own);
      assert.equal((JSON.parse(session.text) as { readOnly: boolean }).readOnly, true);
      readOnly.api.forget();
      const pods = '/api/v1/namespaces/a/pods';
      const group = '/apis/authorization.example.io/v1';
      for (const [method, path] of [
        ['POST', pods],
        ['POST', `${pods}/b/eviction`],
        ['POST', `${group}/subjectaccessreviews`],
        ['POST', `${pods}/selfsubjectaccessreviews`],
        ['POST', '/apis/authorization.example.io/v1/selfsubjectnotereviews'],
        // A custom kind may have this name, and would be stored.
        ['POST', '/apis/authorization.example.com/v1/selfsubjectaccessreviews'],
        ['POST', `${group}/selfsubjectaccessreviews/../../../../../api/v1/namespaces`],
        ['PUT', `${pods}/b`],
        ['PATCH', `${pods}/b?dryRun=All`],
        ['DELETE', `${pods}/b`],
      ] as const) {
        const headers = { ...own, 'content-type': 'application/json', 'content-length': '2' };
        const { status } = await readOnly.send(method, path, headers, '{}');
        assert.equal(status, 403, `${method} ${path}`);
      }
      const protocols = { 'sec-websocket-protocol': `v5.channel.k8s.io, plinth-key.${key}` };
      const terminal = await readOnly.upgrade(`${pods}/b/exec?command=sh`, { ...cookie, ...protocols });
      assert.equal(terminal.status, 403);
      assert.deepEqual(readOnly.api.arrived, []);
      assert.equal((await readOnly.send('GET', pods, own)).status, 200);
      const asked = { ...own, 'content-type': 'application/json' };
      assert.equal((await readOnly.send('POST', `${group}/selfsubjectaccessreviews`, asked, '{}')).status, 200);
    } finally {
      await readOnly.stop();
    }
  });
});
