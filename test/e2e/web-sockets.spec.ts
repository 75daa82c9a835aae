import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import { type ClientOptions, WebSocket } from 'ws';
import { dial } from './support/connections.js';
import { send } from './support/raw-http.js';
import { eventually, TestCluster, type TestServer, tokens } from './support/test-cluster.js';

const configMaps = '/api/v1/namespaces/default/configmaps';
let cluster: TestCluster;
let server: TestServer;

before(async () => {
  cluster = await TestCluster.start({ servers: 1, flags: ['--anonymous-auth=false', '--unread-answer-timeout=1s'] });
  server = cluster.first;
  assert.equal((await server.client.post(configMaps, { metadata: { name: 'one' } })).status, 201);
});

after(() => cluster.stop());

function open(path: string, protocols: string[] = [], options: ClientOptions = {}): WebSocket {
  const headers = options.headers ?? { authorization: `Bearer ${tokens.admin}` };
  const socket = new WebSocket(`${server.url.replace('https', 'wss')}${path}`, protocols, {
    ca: cluster.pki.authority,
    ...options,
    headers,
  });
  socket.on('error', () => undefined);
  return socket;
}

/** Frames as they come. */
function framesOf(socket: WebSocket): { data: Buffer; isBinary: boolean }[] {
  const frames: { data: Buffer; isBinary: boolean }[] = [];
  socket.on('message', (data: Buffer, isBinary: boolean) => frames.push({ data, isBinary }));
  return frames;
}

async function refusal(socket: WebSocket): Promise<{ status: number; body: { kind?: string; code?: number } }> {
  socket.once('open', () => socket.emit('unexpected-response', undefined, Readable.from(['{}'])));
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode ?? 0, body: JSON.parse(text) };
}

describe('watches over WebSocket', () => {
  it('send a text frame for each event, answer pings, and end with a close frame', async () => {
    const socket = open(`${configMaps}?watch=true&fieldSelector=metadata.name!=kube-root-ca.crt`);
    const frames = framesOf(socket);
    await once(socket, 'open');
    socket.ping('x');
    assert.equal(String((await once(socket, 'pong'))[0]), 'x');
    assert.equal((await server.client.post(configMaps, { metadata: { name: 'two' } })).status, 201);
    await eventually(() => frames.length === 2, 'both events');
    socket.terminate();
    const [code] = await once(open(`${configMaps}?watch=true&timeoutSeconds=1`), 'close');
    assert.equal(code, 1000);
    assert.ok(frames.every(({ isBinary }) => !isBinary));
    const events = frames.map(({ data }) => JSON.parse(data.toString()));
    assert.deepEqual(
      events.map(({ type, object }) => [type, object.metadata.name]),
      [
        ['ADDED', 'one'],
        ['ADDED', 'two'],
      ],
    );
  });

  it('send binary frames for protobuf', async () => {
    const accept = 'application/vnd.kubernetes.protobuf';
    const socket = open(`${configMaps}?watch=true&fieldSelector=metadata.name=one`, [], {
      headers: { accept, authorization: `Bearer ${tokens.admin}` },
    });
    const frames = framesOf(socket);
    await eventually(() => frames.length === 1, 'the first event');
    assert.equal(frames[0]?.isBinary, true);
    // Field 1 of an event is its type.
    assert.equal(frames[0]?.data.subarray(0, 7).toString('latin1'), '\n\u0005ADDED');
    socket.close();
    await once(socket, 'close');
  });

  it('take a token among the protocols, and answer with one of the others', async () => {
    const token = Buffer.from(tokens.alice).toString('base64url');
    const protocols = [`base64url.bearer.authorization.k8s.io.${token}`, 'base64.binary.k8s.io'];
    const socket = open(`${configMaps}?watch=1`, protocols, { headers: {} });
    await once(socket, 'open');
    assert.equal(socket.protocol, 'base64.binary.k8s.io');
    socket.terminate();
  });

  it('are open to programs with a certificate, whose library names the origin of examples', async () => {
    const { cert, key } = cluster.adminCertificate;
    const socket = open(`${configMaps}?watch=1`, [], { origin: 'http://localhost', cert, key, headers: {} });
    await once(socket, 'open');
    socket.terminate();
  });

  it('are refused by ordinary answers', async () => {
    const none = { headers: { authorization: 'Bearer wrong' } };
    assert.deepEqual(statusOf(await refusal(open(`${configMaps}?watch=1`, [], none))), [401, 'Status', 401]);
    assert.deepEqual(statusOf(await refusal(open(`${configMaps}?watch=1&fieldSelector=x`))), [400, 'Status', 400]);
    assert.deepEqual(statusOf(await refusal(open('/api/v1/made-up?watch=1'))), [404, 'Status', 404]);
    const page = {
      origin: 'https://elsewhere.example.com',
      cert: cluster.adminCertificate.cert,
      key: cluster.adminCertificate.key,
    };
    const foreign = open(`${configMaps}?watch=1`, [], { ...page, headers: {} });
    assert.deepEqual(statusOf(await refusal(foreign)), [403, 'Status', 403]);
    // The certificate of the reader takes precedence over anything that a page makes up.
    const madeUp = [`base64url.bearer.authorization.k8s.io.${Buffer.from('made-up').toString('base64url')}`, 'x'];
    const pretending = open(`${configMaps}?watch=1`, madeUp, { ...page, headers: {} });
    assert.deepEqual(statusOf(await refusal(pretending)), [403, 'Status', 403]);
    const basic = open(`${configMaps}?watch=1`, [], { ...page, headers: { authorization: 'Basic YTpi' } });
    assert.deepEqual(statusOf(await refusal(basic)), [403, 'Status', 403]);
    const local = { ...page, origin: 'http://localhost' };
    // Not every browser names the mode of a WebSocket.
    for (const [name, value] of [
      ['sec-fetch-mode', 'websocket'],
      [
        'user-agent',
        'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36',
      ],
    ] as const) {
      const browser = open(`${configMaps}?watch=1`, [], { ...local, headers: { [name]: value } });
      assert.deepEqual(statusOf(await refusal(browser)), [403, 'Status', 403], name);
    }
    for (const origin of ['http://localhost:8080', 'https://localhost', 'http://localhost.example.com', 'null']) {
      const near = open(`${configMaps}?watch=1`, [], { ...page, origin, headers: {} });
      assert.deepEqual(statusOf(await refusal(near)), [403, 'Status', 403], origin);
    }
    const head = `GET ${configMaps}?watch=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tokens.admin}\r\n`;
    const old = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 8\r\nSec-WebSocket-Key: x\r\n\r\n';
    assert.equal((await send(server.url, cluster.pki.authority, [head + old])).status, 400);
  });

  it('are not what other upgrades get: those are answered to their end', async () => {
    for (const [path, upgrade, status] of [
      [configMaps, 'websocket', 200],
      ['/api/v1/namespaces/default/pods/a/exec?command=x', 'websocket', 404],
      ['/api/v1/namespaces/default/pods/a/exec?command=x', 'SPDY/3.1', 404],
      [configMaps, 'h2c', 200],
    ] as const) {
      const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tokens.admin}\r\nConnection: Upgrade\r\nUpgrade: ${upgrade}\r\n\r\n`;
      assert.equal((await send(server.url, cluster.pki.authority, [request])).status, status, `${path} ${upgrade}`);
    }
  });

  it('are not for requests that come before the response to the one before', async () => {
    const read = `GET ${configMaps} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tokens.admin}\r\n`;
    const upgrade =
      `GET ${configMaps}?watch=1&timeoutSeconds=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tokens.admin}\r\n` +
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n';
    const socket = await dial(cluster, server);
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    socket.on('error', () => undefined);
    socket.write(`${read}\r\n${upgrade}`);
    await eventually(async () => text.split('HTTP/1.1 200 OK\r\n').length === 3, 'ordinary responses to both');
    socket.destroy();
    assert.doesNotMatch(server.log, /could not be upgraded/);
  });

  it('are not for requests with a body, which end no process either', async () => {
    const head =
      'GET /api/v1/pods?watch=1&timeoutSeconds=1 HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';
    const known = `Authorization: Bearer ${tokens.admin}\r\n`;
    for (const [who, status] of [
      ['', 401],
      [known, 200],
    ] as const) {
      for (const body of [
        'Content-Length: 5\r\n\r\nhello',
        'Content-Length: 5\r\n\r\n',
        'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
        'Transfer-Encoding: chunked\r\n\r\n',
      ]) {
        const answer = await send(server.url, cluster.pki.authority, [head + who + body]);
        assert.equal(answer.status, status, `${JSON.stringify(who + body)}\n${server.log}`);
      }
      const none = await send(server.url, cluster.pki.authority, [`${head}${who}Content-Length: 0\r\n\r\n`]);
      assert.equal(none.status, who === '' ? 401 : 101);
    }
    assert.equal(server.process.exitCode, null, server.log);
    assert.doesNotMatch(server.log, /nobody|could not be upgraded/);
  });

  it('end with the connection, whatever a client sends', async () => {
    for (let i = 0; i < 3; i++) {
      const socket = open(`${configMaps}?watch=1`);
      await once(socket, 'open');
      if (i === 0) socket.terminate();
      else if (i === 1) socket.send('x'.repeat(100_000));
      else socket.close(1001);
      if (i > 0) await once(socket, 'close');
    }
    await eventually(async () => {
      const { text } = await server.client.get('/metrics');
      return /plinth_registered_watchers\{group="",version="v1",kind="ConfigMap"\} 0\n/.test(text);
    }, 'all watches to end');
    assert.equal(server.process.exitCode, null, server.log);
    assert.doesNotMatch(server.log, /nobody|request failed/);
  });
});

function statusOf({ status, body }: { status: number; body: { kind?: string; code?: number } }): unknown[] {
  return [status, body.kind, body.code];
}
