import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { after, before, describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { dial, inFlight, readAll } from './support/connections.js';
import { Http2Client, responseOf } from './support/http2-client.js';
import { eventually, TestCluster, type TestServer, tokens } from './support/test-cluster.js';

const core = '/api/v1/namespaces/default';
const configMaps = `${core}/configmaps`;
const json = { 'content-type': 'application/json' };
let cluster: TestCluster;
let server: TestServer;
let two: Http2Client;

before(async () => {
  cluster = await TestCluster.start({ servers: 1, flags: ['--request-timeout=5s'] });
  server = cluster.first;
  two = await Http2Client.connect(server.url, cluster.pki.authority, tokens.admin);
  const { client } = server;
  assert.equal((await client.post(configMaps, { metadata: { name: 'one' }, data: { a: 'b' } })).status, 201);
  await Promise.all(
    Array.from({ length: 600 }, (_, i) =>
      client.post(configMaps, { metadata: { name: `many-${i}` }, data: { a: 'x'.repeat(300) } }),
    ),
  );
});

after(async () => {
  await two.close();
  await cluster.stop();
});

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

interface Send {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

async function overOne({ method = 'GET', path, headers = {}, body }: Send): Promise<Answer> {
  // Without keep-alive a server that refuses a body closes before its client has written it.
  const agent = new Agent({ keepAlive: true });
  const request = httpsRequest(`${server.url}${path}`, {
    method,
    ca: cluster.pki.authority,
    agent,
    headers: { authorization: `Bearer ${tokens.admin}`, 'user-agent': 'e2e/1.0', ...headers },
  });
  request.end(body);
  const [message] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  agent.destroy();
  return { status: message.statusCode ?? 0, headers: message.headers, body: Buffer.concat(chunks) };
}

function overTwo({ method = 'GET', path, headers = {}, body }: Send): Promise<Answer> {
  return two.send(method, path, headers, body);
}

/** Values that depend on the HTTP version of a connection, or differ between any two requests. */
const apart = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'date',
  'audit-id',
  ':status',
  'content-length',
]);

function comparable({ status, headers, body }: Answer) {
  const kept = Object.entries(headers).filter(([name]) => !apart.has(name));
  const shown: Record<string, unknown> = Object.fromEntries(kept);
  const type = String(headers['content-type'] ?? '');
  // Ages in tables change between the two requests.
  const text = body.toString().replace(/"\d+s"|"\d+m(\d+s)?"/g, '"age"');
  return { status, headers: shown, body: type === 'application/json' && text !== '' ? JSON.parse(text) : text };
}

const long = 'x'.repeat(70 * 1024);

const same: readonly (readonly [what: string, status: number, send: Send])[] = [
  ['a read', 200, { path: `${configMaps}/one` }],
  ['a HEAD', 200, { method: 'HEAD', path: `${configMaps}/one` }],
  ['a HEAD of nothing', 404, { method: 'HEAD', path: `${configMaps}/none` }],
  ['a list in pages', 200, { path: `${configMaps}?limit=7` }],
  ['a long list', 200, { path: `${configMaps}?labelSelector=!none` }],
  ['a table', 200, { path: configMaps, headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } }],
  ['something missing', 404, { path: `${configMaps}/none` }],
  ['an unknown path', 404, { path: '/nothing' }],
  ['a path that is no percent-encoding', 400, { path: `${configMaps}/%zz` }],
  ['a wrong token', 401, { path: configMaps, headers: { authorization: 'Bearer wrong' } }],
  ['a method that is not allowed', 405, { method: 'PUT', path: configMaps, headers: json, body: '{}' }],
  ['a form nobody writes', 406, { path: `${configMaps}/one`, headers: { accept: 'image/png' } }],
  ['a form nobody reads', 415, { method: 'POST', path: configMaps, headers: { 'content-type': 'a/b' }, body: '{}' }],
  ['a broken body', 400, { method: 'POST', path: configMaps, headers: json, body: '{"metadata":' }],
  ['an invalid object', 422, { method: 'POST', path: configMaps, headers: json, body: '{"metadata":{"name":"A_"}}' }],
  ['a conflict', 409, { method: 'POST', path: configMaps, headers: json, body: '{"metadata":{"name":"one"}}' }],
  [
    'an announced body that is too long',
    413,
    { method: 'POST', path: configMaps, headers: json, body: ' '.repeat(4 << 20) },
  ],
  ['a bad watch', 500, { path: `${configMaps}?watch=true&resourceVersion=x` }],
  ['a head that is too long', 431, { path: configMaps, headers: { 'x-long': long } }],
  ['a path that is too long', 431, { path: `${configMaps}?labelSelector=${long}` }],
  ['an expectation nobody knows', 417, { path: configMaps, headers: { expect: 'miracles' } }],
  ['a health check', 200, { path: '/readyz?verbose' }],
  [
    'a watch that ends',
    200,
    { path: `${configMaps}?watch=true&resourceVersion=0&timeoutSeconds=1&fieldSelector=metadata.name=one` },
  ],
];

describe('both HTTP versions give the same answer to', { timeout: 60_000 }, () => {
  for (const [what, status, send] of same) {
    it(what, async () => {
      let [one, second] = [await overOne(send), await overTwo(send)];
      // The server writes by itself now and then, such as its lease: then the two lists have different versions.
      for (let again = 0; again < 5 && !isDeepStrictEqual(comparable(second), comparable(one)); again++) {
        [one, second] = [await overOne(send), await overTwo(send)];
      }
      assert.equal(one.status, status, one.body.toString().slice(0, 300));
      assert.deepEqual(comparable(second), comparable(one));
      if (send.method === 'HEAD') assert.equal(one.body.length + second.body.length, 0);
      const hasLengths = one.headers['content-length'] !== undefined && second.headers['content-length'] !== undefined;
      if (hasLengths && what !== 'a table') {
        assert.equal(second.headers['content-length'], one.headers['content-length']);
      }
    });
  }
});

describe('bodies', { timeout: 90_000 }, () => {
  it('that are awaited with expect-continue are taken', async () => {
    const text = JSON.stringify({ metadata: { generateName: 'expected-' } });
    const request = httpsRequest(`${server.url}${configMaps}`, {
      method: 'POST',
      ca: cluster.pki.authority,
      agent: new Agent(),
      headers: {
        authorization: `Bearer ${tokens.admin}`,
        ...json,
        expect: '100-continue',
        'content-length': text.length,
      },
    });
    request.flushHeaders();
    await once(request, 'continue');
    request.end(text);
    const [message] = (await once(request, 'response')) as [IncomingMessage];
    message.resume();
    assert.equal(message.statusCode, 201);

    const stream = two.open('POST', configMaps, { ...json, expect: '100-continue' }, false);
    await once(stream, 'continue');
    stream.end(text);
    assert.equal((await responseOf(stream))[':status'], 201);
    stream.resume();
  });

  it('with trailers are taken, and the trailers ignored', async () => {
    const socket = await dial(cluster, server);
    const body = '{"metadata":{"generateName":"trailing-1-"}}';
    socket.write(
      `POST ${configMaps} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tokens.admin}\r\n` +
        'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\nConnection: close\r\n\r\n' +
        `${body.length.toString(16)}\r\n${body}\r\n0\r\nX-Sum: 1\r\n\r\n`,
    );
    assert.match(await readAll(socket), /^HTTP\/1\.1 201 /);
    const stream = two.session.request(
      { ':method': 'POST', ':path': configMaps, authorization: `Bearer ${tokens.admin}`, ...json },
      { waitForTrailers: true } as object,
    );
    stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': '1' }));
    stream.end('{"metadata":{"generateName":"trailing-2-"}}');
    assert.equal((await responseOf(stream))[':status'], 201);
    stream.resume();
  });

  it('that turn out to be too long while they come get a 413', async () => {
    const chunk = Buffer.alloc(256 * 1024, 32);
    const request = httpsRequest(`${server.url}${configMaps}`, {
      method: 'POST',
      ca: cluster.pki.authority,
      agent: new Agent(),
      headers: { authorization: `Bearer ${tokens.admin}`, ...json, 'transfer-encoding': 'chunked' },
    });
    request.on('error', () => undefined);
    const first = once(request, 'response') as Promise<[IncomingMessage]>;
    for (let i = 0; i < 16; i++) request.write(chunk);
    const [message] = await first;
    assert.equal(message.statusCode, 413);
    request.destroy();

    const stream = two.open('POST', configMaps, json, false);
    stream.on('error', () => undefined);
    const answer = responseOf(stream);
    for (let i = 0; i < 16; i++) stream.write(chunk);
    assert.equal((await answer)[':status'], 413);
    stream.close();
    // The connection can still be used.
    assert.equal((await two.send('GET', '/livez')).status, 200);
  });

  it('that are cut in the middle change nothing and leave nothing behind', async () => {
    const part = '{"metadata":{"name":"cut"},"data":{';
    const request = httpsRequest(`${server.url}${configMaps}`, {
      method: 'POST',
      ca: cluster.pki.authority,
      agent: new Agent(),
      headers: { authorization: `Bearer ${tokens.admin}`, ...json, 'content-length': 500 },
    });
    request.on('error', () => undefined);
    request.write(part);
    const stream = two.open('POST', configMaps, json, false);
    stream.on('error', () => undefined);
    stream.write(part);
    await inFlight(server, 'mutating', 2);
    request.destroy();
    stream.close(8);
    await inFlight(server, 'mutating', 0);
    assert.equal((await server.client.get(`${configMaps}/cut`)).status, 404);
  });

  it('that stop coming get a 504 after the time limit', async () => {
    const request = httpsRequest(`${server.url}${configMaps}`, {
      method: 'POST',
      ca: cluster.pki.authority,
      agent: new Agent(),
      headers: { authorization: `Bearer ${tokens.admin}`, ...json, 'content-length': 500 },
    });
    request.on('error', () => undefined);
    request.write('{');
    const stream = two.open('POST', configMaps, json, false);
    stream.on('error', () => undefined);
    stream.write('{');
    const second = responseOf(stream);
    const [message] = (await once(request, 'response')) as [IncomingMessage];
    assert.equal(message.statusCode, 504);
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(chunk as Buffer);
    assert.equal(JSON.parse(Buffer.concat(chunks).toString()).reason, 'Timeout');
    assert.equal((await second)[':status'], 504);
    stream.close();
    request.destroy();
    await inFlight(server, 'mutating', 0);
  });
});

describe('HTTP/2', { timeout: 90_000 }, () => {
  it('takes much of a body in each round trip of a client far away', async () => {
    const { session } = two;
    assert.equal(session.remoteSettings.initialWindowSize, 256 * 1024);
    await eventually(() => Number(session.state.remoteWindowSize) > 2 * 1024 * 1024, 'the window of the connection');
  });
});

describe('HTTP/1.1', { timeout: 90_000 }, () => {
  it('answers pipelined requests in their order', async () => {
    const socket = await dial(cluster, server);
    const paths = [`${configMaps}?limit=500`, '/livez', `${configMaps}/none`, `${configMaps}/one`];
    const heads = paths.map((path, i) => {
      const close = i === paths.length - 1 ? 'Connection: close\r\n' : '';
      return `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tokens.admin}\r\n${close}\r\n`;
    });
    socket.write(heads.join(''));
    const text = await readAll(socket);
    assert.deepEqual(text.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 404', 'HTTP/1.1 200']);
  });

  it('answers what it cannot read with a Status and closes', async () => {
    const bad: readonly (readonly [string, number])[] = [
      ['NONSENSE\r\n\r\n', 400],
      [`GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(200 * 1024)}\r\n\r\n`, 431],
      ['GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n', 400],
    ];
    for (const [text, code] of bad) {
      const socket = await dial(cluster, server);
      socket.write(text);
      const [head, body] = (await readAll(socket)).split('\r\n\r\n');
      assert.match(String(head), new RegExp(`^HTTP/1\\.1 ${code} `));
      assert.equal(JSON.parse(String(body)).kind, 'Status');
      assert.equal(JSON.parse(String(body)).code, code);
    }
  });
});
