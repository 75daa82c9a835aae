import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { after, before, describe, it } from 'node:test';
import { deflateRawSync, deflateSync, gunzipSync, gzipSync, inflateSync } from 'node:zlib';
import { WebSocketServer } from 'ws';
import { dial } from './support/connections.js';
import { Http2Client } from './support/http2-client.js';
import { ProtobufClient } from './support/protobuf-client.js';
import { podsPath, refusalOf, StreamScene } from './support/stream-scene.js';
import { eventually, tokens } from './support/test-cluster.js';

const services = '/api/v1/namespaces/default/services';
const nodes = '/api/v1/nodes';
/** Endpoints may not be at the address of a machine alone. */
const ownAddress =
  Object.values(networkInterfaces())
    .flat()
    .find((one) => one?.family === 'IPv4' && !one.internal)?.address ?? assert.fail('no network');
let scene: StreamScene;
/** The server in the pod. */
let backend: Backend;

/** Responds with the request that it received. */
class Backend {
  readonly server: Server;
  last: { headers: IncomingMessage['headers']; rawHeaders: string[] } = { headers: {}, rawHeaders: [] };
  readonly answers = new Map<string, (request: IncomingMessage, response: ServerResponse) => void>();

  constructor() {
    this.server = createServer(
      { maxHeaderSize: 128 * 1024 },
      (request, response) => void this.answer(request, response),
    );
    const sockets = new WebSocketServer({ server: this.server });
    sockets.on('connection', (socket) =>
      socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary })),
    );
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.last = { headers: request.headers, rawHeaders: request.rawHeaders };
    const special = this.answers.get(request.url?.split('?')[0] ?? '');
    if (special !== undefined) {
      special(request, response);
      return;
    }
    let size = 0;
    for await (const chunk of request) size += (chunk as Buffer).length;
    response.writeHead(200, { 'content-type': 'application/json', 'access-control-allow-origin': '*' });
    response.end(JSON.stringify({ method: request.method, url: request.url, size }));
  }
}

before(async () => {
  scene = await StreamScene.start(['--proxy-denied-cidrs=169.254.0.0/16,127.0.0.2/32', '--anonymous-auth=false']);
  backend = new Backend();
  backend.server.listen(0, '0.0.0.0');
  await once(backend.server, 'listening');
  const { port } = backend;
  await scene.makePod('web', ['main'], undefined, ownAddress);
  const targetRef = { kind: 'Pod', namespace: 'default', name: 'web' };
  await scene.make(services, { metadata: { name: 'web' }, spec: { ports: [{ name: 'http', port: 80 }] } });
  await scene.make('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', {
    metadata: { name: 'web-1', labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [ownAddress], conditions: { ready: true }, targetRef }],
    ports: [{ name: 'http', port, protocol: 'TCP' }],
  });
});
after(async () => {
  backend?.server.closeAllConnections();
  backend?.server.close();
  await scene?.stop();
});

const throughPod = (path: string) => `${podsPath}/pod:${backend.port}/proxy${path}`;

describe('a proxy path', () => {
  it('leads the links of pages through the server, also of compressed ones', async () => {
    const page = '<a href="/x">caf\u00e9</a>';
    const prefix = throughPod('');
    const raw = new ProtobufClient(scene.first.url, scene.cluster.pki.authority, tokens.admin);
    for (const [encoding, body, decode] of [
      ['identity', Buffer.from(page), (bytes: Buffer) => bytes],
      ['gzip', gzipSync(page), gunzipSync],
      ['deflate', deflateSync(page), inflateSync],
      // Some servers send bare data under this name.
      ['deflate', deflateRawSync(page), inflateSync],
    ] as const) {
      backend.answers.set('/page', (_request, response) => {
        response.writeHead(200, {
          'content-type': 'text/html; charset=utf-8',
          'content-length': body.length,
          ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
        });
        response.end(body);
      });
      const headers = { 'accept-encoding': encoding };
      const answer = await raw.send('GET', throughPod('/page'), { accept: 'text/html', headers });
      assert.equal(answer.status, 200);
      assert.equal(decode(answer.bytes).toString(), `<a href="${prefix}/x">caf\u00e9</a>`, encoding);
    }
    backend.answers.set('/page', (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' }).end(page);
    });
    assert.equal((await scene.client.get(throughPod('/page'))).text, page);
    backend.answers.set('/page', (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.write('<p>'.repeat(100_000), () => response.destroy());
    });
    await assert.rejects(scene.client.get(throughPod('/page')), 'a page that breaks off does not look whole');
    for (const encoding of ['constructor', '__proto__', 'gzip, gzip', 'x']) {
      backend.answers.set('/page', (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': encoding }).end('as it is');
      });
      const answer = await raw.send('GET', throughPod('/page'), { accept: 'text/html' });
      assert.deepEqual([answer.status, answer.bytes.toString()], [200, 'as it is'], encoding);
    }
    for (const encoding of ['gzip', 'deflate']) {
      backend.answers.set('/page', (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': encoding }).end('no such data');
      });
      await assert.rejects(raw.send('GET', throughPod('/page'), { accept: 'text/html' }), encoding);
    }
  });

  it('leads to pods, services and nodes, with all methods, paths and queries', async () => {
    const { client } = scene;
    for (const path of [
      throughPod(''),
      `${services}/web:80/proxy`,
      `${services}/web:http/proxy`,
      `${services}/http:web:http/proxy`,
    ]) {
      for (const rest of [
        '/',
        '/a/b?x=1&watch=true',
        '/a//b',
        '/%E2%82%AC%20x/',
        '/a%2Fb',
        `/${'long'.repeat(3000)}`,
      ]) {
        const { status, body, text } = await client.get(`${path}${rest}`);
        assert.deepEqual([status, body?.method, body?.url], [200, 'GET', rest], `${path}${rest}: ${text}`);
      }
    }
    const written = await client.post(throughPod('/x'), { some: 'body' });
    assert.deepEqual([written.status, written.body.method, written.body.size], [200, 'POST', 15]);
    assert.equal((await client.put(throughPod('/x'), {})).body.method, 'PUT');
    assert.equal((await client.delete(throughPod('/x'))).body.method, 'DELETE');
    assert.deepEqual((await client.get(`${nodes}/node/proxy/pods`)).body, { kind: 'PodList' });
    assert.equal((await client.get(`${nodes}/node:${backend.port}/proxy/z`)).body.url, '/z');
    assert.equal((await client.get(`${nodes}/node:${scene.agent.port}/proxy/pods`)).body.kind, 'PodList');
  });

  it('works over HTTP/2 and streams bodies of any size', async () => {
    const megabytes = 24;
    backend.answers.set('/large', (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/octet-stream' });
      for (let i = 0; i < megabytes; i++) response.write(Buffer.alloc(1024 * 1024));
      response.end();
    });
    const h2 = await Http2Client.connect(scene.first.url, scene.cluster.pki.authority, tokens.admin);
    const stream = h2.open('GET', throughPod('/large'));
    let size = 0;
    stream.on('data', (chunk: Buffer) => {
      size += chunk.length;
    });
    await once(stream, 'end');
    assert.equal(size, megabytes * 1024 * 1024);
    await h2.close();
    const socket = await dial(scene.cluster, scene.first);
    const head = `Host: x\r\nAuthorization: Bearer ${tokens.admin}\r\nConnection: close\r\nContent-Length: ${megabytes * 1024 * 1024}`;
    socket.write(`POST ${throughPod('/sink')} HTTP/1.1\r\n${head}\r\n\r\n`);
    for (let i = 0; i < megabytes; i++) if (!socket.write(Buffer.alloc(1024 * 1024))) await once(socket, 'drain');
    let text = '';
    for await (const chunk of socket) text += String(chunk);
    assert.match(text, new RegExp(`"size":${megabytes * 1024 * 1024}`));
  });

  it('passes WebSockets on', async () => {
    const socket = scene.open(throughPod('/socket'), []);
    await once(socket, 'open');
    socket.send('echo');
    const [data] = await once(socket, 'message');
    assert.equal(String(data), 'echo');
    socket.close();
    await once(socket, 'close');
  });

  it('keeps relative links right', async () => {
    const bare = await scene.client.get(throughPod('?x=1'));
    assert.deepEqual([bare.status, bare.headers.location], [301, throughPod('/?x=1')]);
    const cases: readonly [string, string][] = [
      ['/login', throughPod('/login')],
      [`http://127.0.0.1:${backend.port}/login?a=b#c`, throughPod('/login?a=b#c')],
      ['next', 'next'],
      ['https://elsewhere.example/x', 'https://elsewhere.example/x'],
      [throughPod('/there'), throughPod('/there')],
    ];
    for (const [location, expected] of cases) {
      backend.answers.set('/redirect', (_request, response) => response.writeHead(302, { location }).end());
      const { status, headers } = await scene.client.get(throughPod('/redirect'));
      assert.deepEqual([status, headers.location], [302, expected]);
    }
  });

  it('keeps the cookies of one server from others, and this server its own', async () => {
    const cookies = ['a=1; Path=/; Domain=example.com; HttpOnly', 'b=2', 'c=3; path=/app; Secure'];
    backend.answers.set('/cookies', (_request, response) => {
      response.setHeader('set-cookie', cookies);
      for (const name of ['strict-transport-security', 'alt-svc', 'clear-site-data']) response.setHeader(name, 'x');
      response.end();
    });
    const { headers } = await scene.client.get(throughPod('/cookies'));
    const prefix = throughPod('');
    assert.deepEqual(headers['set-cookie'], [
      `a=1; Path=${prefix}/; HttpOnly`,
      'b=2',
      `c=3; Path=${prefix}/app; Secure`,
    ]);
    assert.deepEqual([headers['alt-svc'], headers['clear-site-data']], [undefined, undefined]);
    assert.notEqual(headers['strict-transport-security'], 'x');
  });

  it('gives the other server no credentials, and no page the right to read its answers', async () => {
    const headers = {
      'x-remote-user': 'eve',
      'x-remote-extra-a': 'b',
      'impersonate-user': 'bob',
      'impersonate-group': 'system:masters',
      'x-own': 'kept',
      connection: 'x-hop',
      'x-hop': 'gone',
      'proxy-authorization': 'Basic x',
    };
    const { status, headers: answered } = await scene.client.get(throughPod('/x'), { headers });
    assert.equal(status, 200);
    assert.equal(answered['access-control-allow-origin'], undefined);
    const names = backend.last.rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase());
    assert.ok(names.includes('x-own') && names.includes('x-forwarded-for'));
    assert.equal(backend.last.headers['x-forwarded-uri'], throughPod('/x'));
    for (const name of names) assert.doesNotMatch(name, /^(?:authorization|x-remote-|impersonate-|x-hop|proxy-auth)/);
    assert.equal((await scene.client.get(`${nodes}/node/proxy/pods`)).status, 200);
    assert.equal(scene.agent.last('/pods')?.headers.authorization, undefined);
  });
});

describe('a proxy path leads nowhere', () => {
  it('without a server behind it', async () => {
    const { client } = scene;
    await scene.make(services, { metadata: { name: 'empty' }, spec: { ports: [{ port: 80 }] } });
    const cases: readonly [string, number, RegExp][] = [
      [`${podsPath}/absent/proxy/`, 404, /pods "absent" not found/],
      [
        `${podsPath}/pod:1/proxy/`,
        503,
        /^error trying to reach service: dial tcp 127\.0\.0\.1:1: connect: connection refused$/,
      ],
      [`${podsPath}/pod:nowhere/proxy/`, 400, /no port named "nowhere"/],
      [`${podsPath}/pod:99999/proxy/`, 400, /99999 is not a port/],
      [`${podsPath}/ftp:pod:1/proxy/`, 400, /^invalid pod request "ftp:pod:1"$/],
      [`${services}/a:b:c:d/proxy/`, 400, /^invalid service request/],
      [`${services}/web:81/proxy/`, 503, /^no service port 81 found for service "web"$/],
      [`${services}/empty:80/proxy/`, 503, /^no endpoints available for service "empty"$/],
      [`${nodes}/absent/proxy/`, 404, /nodes "absent" not found/],
    ];
    for (const [path, code, pattern] of cases) {
      const { status, body } = await client.get(path);
      if (path.includes('empty')) assert.ok([404, 503].includes(status));
      else assert.equal(status, code, path);
      assert.match(body.message, pattern);
    }
  });

  it('that is not meant to be reached', async () => {
    const { client } = scene;
    await scene.makePod('metadata', ['main']);
    for (const ip of ['169.254.169.254', '127.0.0.2', '0.0.0.1']) {
      const status = { podIP: ip, podIPs: [{ ip }] };
      assert.equal((await client.patch(`${podsPath}/metadata/status`, 'merge', { status })).status, 200);
      const { status: code, body } = await client.get(`${podsPath}/metadata:80/proxy/latest`);
      if (ip.startsWith('0.')) assert.notEqual(code, 200);
      else assert.deepEqual([code, body.message], [400, 'address not allowed']);
    }
    await scene.makeNode('link-local', 10_250, '169.254.169.254');
    for (const path of [`${nodes}/link-local/proxy/`, `${nodes}/link-local:80/proxy/`]) {
      const { status, body } = await client.get(path);
      assert.equal(status, 503);
      assert.match(body.message, /connections to 169\.254\.169\.254 are not allowed/);
    }
    // An endpoint that belongs to no pod, and one that claims to be the pod of another address.
    for (const [name, endpoint] of [
      ['free', { addresses: [ownAddress] }],
      ['claimed', { addresses: ['10.1.2.3'], targetRef: { kind: 'Pod', namespace: 'default', name: 'pod' } }],
      ['foreign', { addresses: [ownAddress], targetRef: { kind: 'Pod', namespace: 'other', name: 'web' } }],
    ] as const) {
      await scene.make(services, { metadata: { name }, spec: { ports: [{ port: 80 }] } });
      await scene.make('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', {
        metadata: { name, labels: { 'kubernetes.io/service-name': name } },
        addressType: 'IPv4',
        endpoints: [endpoint],
        ports: [{ name: '', port: backend.port, protocol: 'TCP' }],
      });
      const { status, body } = await client.get(`${services}/${name}/proxy/`);
      assert.deepEqual([status, body.message], [503, `no endpoints available for service "${name}"`]);
    }
  });

  it('by tricks with the path', async () => {
    const head = `Host: x\r\nAuthorization: Bearer ${tokens.admin}\r\nConnection: close\r\n\r\n`;
    const ask = async (path: string) => {
      const socket = await dial(scene.cluster, scene.first);
      socket.write(`GET ${path} HTTP/1.1\r\n${head}`);
      let text = '';
      for await (const chunk of socket) text += String(chunk);
      return text;
    };
    backend.last = { headers: {}, rawHeaders: [] };
    for (const rest of ['/../../../secrets', '/a/%2e%2e/b', '/./x']) {
      assert.match(await ask(throughPod(rest)), /^HTTP\/1\.1 (?:400|404) /, rest);
    }
    assert.deepEqual(backend.last.rawHeaders, []);
    const split = await ask(throughPod('/x%0d%0aX-Injected:%20yes'));
    assert.match(split, /^HTTP\/1\.1 200 [\s\S]*"url":"\/x%0d%0aX-Injected:%20yes"/);
    assert.equal(backend.last.headers['x-injected'], undefined);
  });

  it('without the right to it', async () => {
    const asBob = { token: tokens.bob };
    assert.equal((await scene.client.get(throughPod('/'), asBob)).status, 403);
    assert.equal((await scene.client.get(`${nodes}/node/proxy/pods`, asBob)).status, 403);
    assert.equal((await scene.client.get(throughPod('/'), { token: 'none' })).status, 401);
    const headers = { authorization: `Bearer ${tokens.bob}` };
    assert.equal((await refusalOf(scene.open(throughPod('/socket'), [], { headers }))).status, 403);
  });
});

describe('another server that', () => {
  it('breaks off differs from one that has ended', async () => {
    backend.answers.set('/broken', (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      response.write('begin');
      setTimeout(() => response.destroy(), 50);
    });
    await assert.rejects(scene.client.get(throughPod('/broken')));
    backend.answers.set('/garbage', (request) => request.socket.end('garbage\r\n\r\n'));
    const { status, body } = await scene.client.get(throughPod('/garbage'));
    assert.equal(status, 503);
    assert.match(body.message, /^error trying to reach service: /);
  });

  it('switches the protocol unasked, or redirects an upgrade, is cut', async () => {
    backend.answers.set('/switch', (request) => {
      request.socket.end('HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: x\r\n\r\nhello');
    });
    assert.equal((await scene.client.get(throughPod('/switch'))).status, 503);
    scene.agent.upgrades.set('/away', (socket) =>
      socket.end('HTTP/1.1 302 Found\r\nlocation: https://x.example/\r\n\r\n'),
    );
    const refused = await refusalOf(scene.open(`${nodes}/node/proxy/away`, []));
    assert.equal(refused.status, 502);
    await eventually(() => scene.agent.openStreams === 0, 'the end of all streams');
  });
});
