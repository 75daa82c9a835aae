import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingHttpHeaders, request } from 'node:http';
import { type RequestOptions, request as secureRequest } from 'node:https';
import { connect } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';
import { serverAuth, TestIdentity } from '../../../test/support/test-authority.js';
import { Logger } from '../../base/observability/logger.js';
import { type RunningConsole, startConsole } from './console-server.js';
import { securityHeaders } from './guard.js';
import { RecordingServer } from './testing/recording-server.js';
import { Upstream } from './upstream.js';

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

describe('the server of the console', () => {
  let api: RecordingServer;
  let running: RunningConsole;
  let time = Date.now();
  let port = 0;
  let origin = '';

  before(async () => {
    api = await RecordingServer.start();
    const tls = {
      ca: api.authority.cert,
      cert: undefined,
      key: undefined,
      serverName: undefined,
      insecureSkipVerify: false,
    };
    running = await startConsole(new Upstream({ server: `${api.url}/`, tls, files: {} }), {
      bindAddress: '127.0.0.1',
      port: 0,
      origins: [],
      sessionMs: 60_000,
      logger: new Logger('error'),
      clock: { now: () => time },
    });
    port = Number(new URL(running.url).port);
    origin = `http://127.0.0.1:${port}`;
  });
  after(async () => {
    await running?.stop();
    api?.stop();
  });
  beforeEach(() => {
    api.forget();
  });

  function send(method: string, path: string, headers: Record<string, string> = {}, body?: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, method, path, headers }, async (response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of response) chunks.push(chunk as Buffer);
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(chunks).toString('utf8'),
        });
      });
      sent.on('error', reject);
      sent.end(body);
    });
  }

  async function login(text: string): Promise<Record<string, string>> {
    const body = JSON.stringify({ login: text });
    const answer = await send('POST', '/console/login', { origin, 'content-type': 'application/json' }, body);
    assert.equal(answer.status, 200, answer.text);
    const [cookie = ''] = answer.headers['set-cookie']?.[0]?.split(';') ?? [];
    return { origin, cookie, 'x-plinth-console': (JSON.parse(answer.text) as { key: string }).key };
  }

  const kubeconfigOf = (user: object, server = 'https://evil.example.com') =>
    JSON.stringify({
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 'x', user: 'u' } }],
      clusters: [{ name: 'x', cluster: { server } }],
      users: [{ name: 'u', user }],
    });

  it('sends its headers with every answer, also with refusals', async () => {
    for (const [method, path, headers] of [
      ['GET', '/', {}],
      ['GET', '/app.js', {}],
      ['GET', '/missing', {}],
      ['GET', '/', { host: 'evil.example.com' }],
      ['GET', '/%', {}],
      ['POST', '/console/login', { origin }],
    ] as const) {
      const answer = await send(method, path, headers);
      for (const [name, value] of Object.entries(securityHeaders)) {
        assert.equal(answer.headers[name], value, `${name} of ${method} ${path}`);
      }
    }
    const policy = securityHeaders['content-security-policy'] ?? '';
    assert.doesNotMatch(policy, /unsafe|\*|data:|https?:/);
    assert.match(policy, /default-src 'none'.*frame-ancestors 'none'.*trusted-types 'none'/);
  });

  it('answers under its own names only', async () => {
    for (const host of [`evil.example.com:${port}`, `127.0.0.1.nip.io:${port}`, '127.0.0.1', `127.0.0.1:${port + 1}`]) {
      assert.equal((await send('GET', '/', { host })).status, 403, host);
    }
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `LOCALHOST:${port}`]) {
      assert.equal((await send('GET', '/', { host })).status, 200, host);
    }
  });

  it('takes requests of its own page only', async () => {
    const own = await login('token-of-alice');
    api.forget();
    for (const from of [
      'https://evil.example.com',
      'null',
      `http://127.0.0.1:${port + 1}`,
      `https://127.0.0.1:${port}`,
    ]) {
      assert.equal((await send('GET', '/api/v1/pods', { ...own, origin: from })).status, 403, from);
      assert.equal((await send('POST', '/console/logout', { ...own, origin: from })).status, 403, from);
    }
    const { origin: _, ...unnamed } = own;
    assert.equal((await send('DELETE', '/api/v1/namespaces/a', unnamed)).status, 403);
    assert.equal((await send('GET', '/api/v1/pods', { ...own, 'sec-fetch-site': 'cross-site' })).status, 403);
    assert.equal((await send('GET', '/api/v1/pods', { ...own, 'sec-fetch-site': 'same-site' })).status, 403);
    assert.equal(api.arrived.length, 0);
    assert.equal((await send('GET', '/api/v1/pods', { ...own, 'sec-fetch-site': 'same-origin' })).status, 200);
    assert.equal((await send('GET', '/', { 'sec-fetch-site': 'cross-site' })).status, 200);
  });

  it('lets one user harm nobody else by logging in again and again, or by streams that never end', async () => {
    const alice = await login('token-of-alice');
    const first = await login('token-of-mallory');
    let mallory = first;
    for (let n = 0; n < 25; n++) mallory = await login('token-of-mallory');
    assert.equal((await send('GET', '/api/v1/pods', alice)).status, 200);
    assert.equal((await send('GET', '/api/v1/pods', first)).status, 401, 'the oldest of their own');
    api.answers.set('/api/v1/hang', (response) => response.flushHeaders());
    const streams: { destroy(): void }[] = [];
    const opened = Array.from(
      { length: 140 },
      () =>
        new Promise<number>((resolve, reject) => {
          const sent = request({ host: '127.0.0.1', port, path: '/api/v1/hang', headers: mallory }, (response) => {
            streams.push(response);
            response.on('error', () => undefined).resume();
            resolve(response.statusCode ?? 0);
          });
          sent.on('error', reject);
          sent.end();
        }),
    );
    const statuses = await Promise.all(opened);
    assert.equal(statuses.filter((status) => status === 200).length, 128);
    assert.equal(statuses.filter((status) => status === 429).length, 12);
    assert.equal((await send('GET', '/api/v1/pods', mallory)).status, 429);
    assert.equal((await send('GET', '/api/v1/pods', alice)).status, 200);
    for (const stream of streams) stream.destroy();
    for (;;) if ((await send('GET', '/api/v1/pods', mallory)).status === 200) break;
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
    time += 60_000;
    assert.equal((await send('GET', '/console/session', later)).status, 401);
    assert.equal((await send('GET', '/api/v1/pods', later)).status, 401);
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
      upgrade: 'websocket',
      connection: 'upgrade, authorization',
      'sec-websocket-protocol': 'base64url.bearer.authorization.k8s.io.dG9rZW4tb2Ytcm9vdA',
    };
    await send('GET', '/api/v1/pods', { ...keys, ...smuggled });
    await send('GET', '/api/v1/pods', { ...dave, ...smuggled });
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

  it('passes bodies and statuses on, and of headers those that a page may know', async () => {
    const keys = await login('token-of-alice');
    const type = { 'content-type': 'application/yaml', accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
    api.forget();
    const answer = await send('PUT', '/api/v1/namespaces/a/configmaps/b?dryRun=All', { ...keys, ...type }, 'a: 1');
    const [{ method, url, headers, body } = { method: '', url: '', headers: {}, body: '' }] = api.arrived;
    assert.deepEqual([method, url, body], ['PUT', '/api/v1/namespaces/a/configmaps/b?dryRun=All', 'a: 1']);
    assert.deepEqual([headers['content-type'], headers.accept], [type['content-type'], type.accept]);
    assert.equal(answer.headers['set-cookie'], undefined);
    assert.equal(answer.headers.server, undefined);
    assert.equal(answer.headers.warning, '299 - "careful"');
    assert.match(String(answer.headers['content-security-policy']), /sandbox/);
    api.answers.set('/api/v1/page', (response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end('<script>alert(1)</script>');
    });
    assert.equal((await send('GET', '/api/v1/page', keys)).headers['content-type'], 'application/octet-stream');
  });

  it('forwards paths of the API only, as they are', async () => {
    const keys = await login('token-of-alice');
    api.forget();
    const refused = [
      '/etc/passwd',
      '/healthz',
      '/logs/',
      '/debug/pprof/',
      '/api/../healthz',
      '/api/v1/../../healthz',
      '/api/%2e%2e/healthz',
      '/api/v1/..%2f..%2fhealthz',
      '/api/v1//pods',
      '/api/v1/pods%00',
      '/api\\..\\healthz',
      '/apis%2f..',
      '/apix',
      '/api/v1/namespaces/a/pods/b/exec?command=sh',
      '/api/v1/namespaces/a/pods/b/proxy/x',
      '/api/v1/namespaces/a/services/b/%70roxy/',
      '/api/v1/nodes/n/proxy/run',
      '/api/v1/proxy/nodes/n',
      '/../package.json',
      '/..%2fpackage.json',
      '/app.js.etag',
      '/app.js.br',
      '/index.html/..',
    ];
    for (const path of refused) {
      const { status, text } = await send('GET', path, keys);
      assert.ok([400, 404].includes(status), `${path}: ${status}`);
      assert.doesNotMatch(text, /"name":/, path);
    }
    assert.equal(api.arrived.length, 0);
    for (const method of ['TRACE', 'OPTIONS', 'CONNECT', 'PROPFIND']) {
      const { status } = await send(method, '/api/v1/pods', keys).catch(() => ({ status: 404 }));
      assert.ok(status >= 400, method);
    }
    assert.equal(api.arrived.length, 0);
    for (const path of [
      '/api/v1/namespaces/proxy/configmaps/exec',
      '/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node',
      '/apis/a.b/v1/things/a%25b',
      '/api/v1/pods?labelSelector=a%3Db&continue=%2F..%2F',
    ]) {
      assert.equal((await send('GET', path, keys)).status, 200, path);
      assert.equal(api.arrived.at(-1)?.url, path);
    }
  });

  it('has no second request smuggled into a connection', async () => {
    const keys = await login('token-of-alice');
    api.forget();
    const head = Object.entries(keys).map(([name, value]) => `${name}: ${value}`);
    const inner = 'DELETE /api/v1/namespaces/a HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer token-of-root\r\n\r\n';
    for (const framing of [
      ['Content-Length: 4', 'Transfer-Encoding: chunked'],
      ['Content-Length: 4', `Content-Length: ${inner.length + 4}`],
      ['Transfer-Encoding: chunked, identity'],
      ['Transfer-Encoding:\u000bchunked'],
      ['X: a\rAuthorization: Bearer token-of-root'],
    ]) {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => {});
      const lines = [
        'POST /api/v1/namespaces HTTP/1.1',
        `Host: 127.0.0.1:${port}`,
        'Connection: close',
        ...head,
        ...framing,
      ];
      socket.write(`${lines.join('\r\n')}\r\n\r\n0\r\n\r\n${inner}`);
      socket.resume();
      await once(socket, 'close');
    }
    assert.deepEqual(
      api.arrived.filter(({ method }) => method === 'DELETE'),
      [],
    );
    assert.ok(api.arrived.every(({ headers }) => headers.authorization === 'Bearer token-of-alice'));
  });

  it('sends bodies with every method, and none as the next request', async () => {
    const keys = { ...(await login('token-of-alice')), 'content-type': 'application/json' };
    const preconditions = JSON.stringify({ preconditions: { uid: 'u' } });
    const smuggled = 'GET /api/v1/nodes/n/proxy/run HTTP/1.1\r\nHost: x\r\nImpersonate-User: root\r\n\r\n';
    api.forget();
    for (const method of ['DELETE', 'GET', 'POST', 'PUT', 'PATCH']) {
      for (const body of [preconditions, smuggled]) {
        const framings: Record<string, string>[] = [
          { 'content-length': String(body.length) },
          { 'transfer-encoding': 'chunked' },
        ];
        for (const framing of framings) {
          const path = `/api/v1/namespaces/a/configmaps/${method.toLowerCase()}`;
          assert.equal((await send(method, path, { ...keys, ...framing }, body)).status, 200, method);
          assert.equal((await send('GET', '/api/v1/pods', keys)).status, 200, method);
          const [first, second, ...more] = api.arrived.splice(0);
          assert.deepEqual([first?.method, first?.url, first?.body], [method, path, body]);
          assert.deepEqual([second?.method, second?.url, more], ['GET', '/api/v1/pods', []]);
        }
      }
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
    const secure = await startConsole(new Upstream({ server: api.url, tls, files: {} }), {
      bindAddress: '127.0.0.1',
      port: 0,
      origins: [outside],
      tls: { cert: own.chain, key: own.key },
      sessionMs: 60_000,
      logger: new Logger('error'),
    });
    // Under the name that others use: its port may be that of a proxy.
    assert.equal(secure.url, `${outside}/`);
    const at = secure.port;
    try {
      const ask = (method: string, path: string, headers: Record<string, string>, body?: string) =>
        new Promise<Answer>((resolve, reject) => {
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

  it('compresses its files and says when they have not changed', async () => {
    const plain = await send('GET', '/app.js');
    const small = await send('GET', '/app.js', { 'accept-encoding': 'gzip, br' });
    assert.equal(small.headers['content-encoding'], 'br');
    assert.ok(Number(small.headers['content-length']) < Number(plain.headers['content-length']) / 2);
    const again = await send('GET', '/app.js', { 'if-none-match': String(plain.headers.etag) });
    assert.deepEqual([again.status, again.text], [304, '']);
    assert.equal((await send('POST', '/', { origin })).status, 405);
  });
});
