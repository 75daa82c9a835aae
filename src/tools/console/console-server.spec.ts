import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';
import { securityHeaders } from './guard.js';
import { ConsoleScene } from './testing/console-scene.js';
import type { RecordingServer } from './testing/recording-server.js';

describe('the server of the console', () => {
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

  it('connects terminals of its own page only, to programs in pods only', async () => {
    const own = await login('token-of-alice');
    const { 'x-plinth-console': key = '', ...cookie } = own;
    const offered = (secret: string) => ({ 'sec-websocket-protocol': `v5.channel.k8s.io, plinth-key.${secret}` });
    const good: Record<string, string> = { ...cookie, ...offered(key) };
    const path = '/api/v1/namespaces/a/pods/b/exec?command=sh&stdin=true';
    const { origin: _, ...unnamed } = good;
    const { cookie: _cookie, ...unknown } = good;
    api.forget();
    for (const [status, to, headers] of [
      [403, path, unnamed],
      [403, path, { ...good, origin: 'https://evil.example.com' }],
      [403, path, { ...good, origin: 'null' }],
      [403, path, { ...good, host: `evil.example.com:${port}` }],
      [403, path, { ...good, 'sec-fetch-site': 'same-site' }],
      [401, path, unknown],
      [401, path, { ...cookie, ...offered('x'.repeat(43)) }],
      [401, path, { ...own, 'sec-websocket-protocol': 'v5.channel.k8s.io' }],
      [400, path, { ...good, 'sec-websocket-protocol': `plinth-key.${key}` }],
      [400, path, { ...good, upgrade: 'h2c' }],
      [404, '/api/v1/namespaces/a/pods/b/portforward', good],
      [404, '/api/v1/namespaces/a/pods/b/proxy/exec', good],
      [404, '/api/v1/namespaces/a/services/b/exec', good],
      [404, '/api/v1/namespaces/a/pods/../exec', good],
      [404, '/api/v1/namespaces/a/pods/%2e%2e/exec', good],
      [404, '/api/v1/namespaces/a/pods/b%2fc/exec', good],
      [404, '/apis/apps/v1/namespaces/a/deployments/b', good],
    ] as const) {
      const answer = await scene.upgrade(to, headers);
      assert.equal(answer.status, status, `${to} ${JSON.stringify(headers)}`);
      for (const [name, value] of Object.entries(securityHeaders)) assert.equal(answer.headers[name], value, name);
    }
    assert.equal(api.arrived.length, 0);
    const { status, headers, socket } = await scene.upgrade(path, good);
    assert.equal(status, 101);
    assert.ok(socket);
    assert.deepEqual(
      [headers['sec-websocket-protocol'], headers['sec-websocket-accept'], headers['set-cookie']],
      ['v5.channel.k8s.io', 'accepted', undefined],
    );
    const [arrived] = api.arrived;
    assert.ok(arrived);
    const { url, headers: sent } = arrived;
    assert.equal(url, path);
    assert.equal(sent.authorization, 'Bearer token-of-alice');
    assert.equal(sent['sec-websocket-protocol'], 'v5.channel.k8s.io', 'the secret stays here');
    assert.equal(sent.cookie, undefined);
    socket.write('there');
    let received = '';
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      received += chunk.toString();
      // The end of the session ends the terminal.
      if (received === 'hello there') await send('POST', '/console/logout', own);
    }
    assert.equal(received, 'hello there');
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
