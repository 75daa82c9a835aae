import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { Http2Client, responseOf } from './support/http2-client.js';
import { residentBytes } from './support/processes.js';
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

/** Values that belong to a connection of one HTTP version, or differ between any two requests. */
const apart = new Set(['connection', 'keep-alive', 'transfer-encoding', 'date', ':status', 'content-length']);

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
  ['a bad watch', 400, { path: `${configMaps}?watch=true&resourceVersion=x` }],
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
      const [one, second] = [await overOne(send), await overTwo(send)];
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
    const socket = await dial();
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
    await inFlight('mutating', 2);
    request.destroy();
    stream.close(8);
    await inFlight('mutating', 0);
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
    await inFlight('mutating', 0);
  });
});

describe('HTTP/1.1', { timeout: 90_000 }, () => {
  it('answers pipelined requests in their order', async () => {
    const socket = await dial();
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
      const socket = await dial();
      socket.write(text);
      const [head, body] = (await readAll(socket)).split('\r\n\r\n');
      assert.match(String(head), new RegExp(`^HTTP/1\\.1 ${code} `));
      assert.equal(JSON.parse(String(body)).kind, 'Status');
      assert.equal(JSON.parse(String(body)).code, code);
    }
  });
});

describe('watches', { timeout: 90_000 }, () => {
  it('are freed at once when their client goes away', async () => {
    const before = await watchers();
    const one = await Promise.all(Array.from({ length: 5 }, () => server.client.watch(`${configMaps}?watch=true`)));
    const streams = Array.from({ length: 5 }, () => two.open('GET', `${configMaps}?watch=true`));
    await Promise.all(streams.map(responseOf));
    await eventually(async () => (await watchers()) === before + 10, 'all watches to be counted');
    for (const watch of one) watch.close();
    for (const stream of streams) stream.close(8);
    await eventually(async () => (await watchers()) === before, 'the watches to be gone');
  });
});

/** A client that sends its requests and then reads nothing. */
describe('a client that stops reading', { timeout: 300_000 }, () => {
  const count = 110;
  let patient: TestServer;

  before(async () => {
    // The time limit of the others would cut the lists.
    patient = await cluster.addServer(undefined, ['--request-timeout=10m']);
    const value = 'y'.repeat(900_000);
    for (let i = 0; i < count; i++) {
      const body = { metadata: { name: `big-${i}` }, data: { value } };
      assert.equal((await patient.client.post(`${core}/configmaps`, body)).status, 201);
    }
  });

  for (const version of ['HTTP/1.1', 'HTTP/2'] as const) {
    it(`does not make the server keep lists of 100 MB or a busy watch, ${version}`, async () => {
      const pid = patient.process.pid as number;
      // Once by a client that reads, so that permanent memory is already in use.
      const whole = await patient.client.get(configMaps);
      assert.ok(whole.text.length > 99_000_000);
      const from = whole.body.metadata.resourceVersion;
      const settled = residentBytes(pid);
      const leave: (() => void)[] = [];
      const paths = [
        ...Array.from({ length: 5 }, () => configMaps),
        `${configMaps}?watch=true&resourceVersion=${from}`,
      ];
      for (const path of paths) {
        if (version === 'HTTP/2') {
          const client = await Http2Client.connect(patient.url, cluster.pki.authority, tokens.admin);
          const stream = client.open('GET', path);
          stream.on('error', () => undefined);
          await responseOf(stream);
          stream.pause();
          leave.push(() => void client.close());
        } else {
          const socket = await dial(patient);
          socket.on('error', () => undefined);
          socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tokens.admin}\r\n\r\n`);
          await once(socket, 'readable');
          leave.push(() => socket.destroy());
        }
      }
      await inFlight('readOnly', 6, patient);
      // 120 MB of events for a watch that takes none of them.
      for (let i = 0; i < 120; i++) {
        const data = { value: 'z'.repeat(1_000_000), i: String(i) };
        assert.equal((await patient.client.patch(`${configMaps}/big-0`, 'merge', { data })).status, 200);
      }
      const grown = residentBytes(pid) - settled;
      for (const go of leave) go();
      assert.ok(grown < 250e6, `${Math.round(grown / 1e6)} MB more for five lists of 100 MB and a watch of 120 MB`);
      await inFlight('readOnly', 1, patient);
    });
  }

  it('ends a watch in time while its client still reads the state', async () => {
    const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const client = await Http2Client.connect(patient.url, cluster.pki.authority, tokens.admin);
    const stream = client.open('GET', `${configMaps}?${query}&timeoutSeconds=1`);
    stream.pause();
    await responseOf(stream);
    await delay(1_000);
    let last = Buffer.alloc(0);
    for await (const piece of stream) last = Buffer.concat([last, piece]).subarray(-2_000);
    await client.close();
    assert.ok(!last.includes('initial-events-end'), 'all of the state was sent after the time was over');
  });
});

// Each has a server of its own, and they spend most of the time waiting.
describe('limits', { timeout: 90_000, concurrency: 3 }, () => {
  async function withFlags(flags: readonly string[], run: (limited: TestServer) => Promise<void>): Promise<void> {
    const limited = await cluster.addServer(undefined, flags);
    try {
      await run(limited);
    } finally {
      cluster.servers.splice(cluster.servers.indexOf(limited), 1);
      await limited.stop();
    }
  }

  it('--http2-max-streams-per-connection is announced and kept', async () => {
    await withFlags(['--http2-max-streams-per-connection=3'], async (limited) => {
      const client = await Http2Client.connect(limited.url, cluster.pki.authority, tokens.admin);
      assert.equal(client.session.remoteSettings.maxConcurrentStreams, 3);
      const seconds = [2, 60, 60];
      const watches = seconds.map((s) => client.open('GET', `${configMaps}?watch=true&timeoutSeconds=${s}`));
      await Promise.all(watches.map(responseOf));
      watches[0]?.resume();
      // The client itself holds back the fourth until there is room.
      let answered = false;
      const fourth = client.send('GET', '/livez').then((answer) => {
        answered = true;
        return answer;
      });
      assert.equal((await limited.client.get('/livez')).status, 200);
      assert.equal(answered, false);
      // The first watch ends by itself.
      assert.equal((await fourth).status, 200);
      await client.close();
    });
    const plain = await Http2Client.connect(server.url, cluster.pki.authority, tokens.admin);
    assert.equal(plain.session.remoteSettings.maxConcurrentStreams, 250);
    await plain.close();
  });

  it('--goaway-chance makes clients of both versions reconnect, with their answer', async () => {
    await withFlags(['--goaway-chance=0.02'], async (limited) => {
      let closes = 0;
      for (let i = 0; closes < 2; i++) {
        assert.ok(i < 3000, 'never in 3000 requests');
        const { status, headers } = await limited.client.get('/livez');
        assert.equal(status, 200);
        if (headers.connection === 'close') closes++;
      }
      let goaways = 0;
      for (let i = 0; goaways < 2; ) {
        const client = await Http2Client.connect(limited.url, cluster.pki.authority, tokens.admin);
        let left = false;
        client.session.once('goaway', () => {
          left = true;
          goaways++;
        });
        while (!left && !client.session.closed) {
          assert.ok(i++ < 3000, 'never in 3000 requests');
          assert.equal((await client.send('GET', '/livez')).status, 200);
        }
        await client.close();
      }
    });
  });

  it('--max-connection-bytes-per-sec slows watches down, and nothing else', async () => {
    await withFlags(['--max-connection-bytes-per-sec=20000'], async (limited) => {
      const { body } = await limited.client.get(`${configMaps}?limit=1`);
      const from = body.metadata.resourceVersion;
      const client = await Http2Client.connect(limited.url, cluster.pki.authority, tokens.admin);
      const began = performance.now();
      const streams = [1, 2].map(() => client.open('GET', `${configMaps}?watch=true&resourceVersion=${from}`));
      await Promise.all(streams.map(responseOf));
      const received = streams.map(async (stream) => {
        let text = '';
        for await (const chunk of stream) {
          text += (chunk as Buffer).toString();
          if (text.split('\n').length > 4) return;
        }
      });
      for (let i = 0; i < 4; i++) {
        const data = { a: 'z'.repeat(20_000) };
        assert.equal(
          (await limited.client.post(configMaps, { metadata: { generateName: 'slow-' }, data })).status,
          201,
        );
      }
      const written = performance.now() - began;
      await Promise.all(received);
      const took = performance.now() - began;
      // Eight events of 20 kB at 20 kB/s, of which the last is not waited for.
      assert.ok(took > 5500, `only ${Math.round(took)} ms`);
      assert.ok(written < took / 2, 'writes are as fast as ever');
      assert.equal((await client.send('GET', `${configMaps}?labelSelector=!none`)).status, 200);
      await client.close();
    });
  });

  it('--min-request-timeout spreads the ends of watches', async () => {
    await withFlags(['--min-request-timeout=1'], async (limited) => {
      const began = performance.now();
      const ends = await Promise.all(
        Array.from({ length: 20 }, async () => {
          const watch = await limited.client.watch(
            `${configMaps}?watch=true&resourceVersion=0&fieldSelector=metadata.name=x`,
          );
          assert.equal(await watch.next(), undefined);
          return performance.now() - began;
        }),
      );
      ends.sort((a, b) => a - b);
      assert.ok((ends[0] as number) >= 1000);
      assert.ok((ends.at(-1) as number) - (ends[0] as number) > 200, 'they did not all end together');
    });
  });

  it('--max-requests-inflight and --max-mutating-requests-inflight refuse with a 429, watches not counted', async () => {
    const flags = ['--max-requests-inflight=2', '--max-mutating-requests-inflight=1'];
    await withFlags(flags, async (limited) => {
      const client = await Http2Client.connect(limited.url, cluster.pki.authority, tokens.alice);
      const watches = Array.from({ length: 4 }, () => client.open('GET', `${configMaps}?watch=true`));
      for (const answer of await Promise.all(watches.map(responseOf))) assert.equal(answer[':status'], 200);
      const held = client.open('POST', configMaps, json, false);
      held.on('error', () => undefined);
      held.write('{');
      await eventually(async () => {
        const { text } = await limited.client.get('/metrics');
        return /apiserver_current_inflight_requests\{request_kind="mutating"\} 1\n/.test(text);
      }, 'the write to be under way');
      const make = (generateName: string, token: string) =>
        limited.client.post(configMaps, { metadata: { generateName } }, { token });
      const refused = await make('no-', tokens.bob);
      assert.equal(refused.status, 429);
      assert.equal(refused.headers['retry-after'], '1');
      assert.equal(refused.body.reason, 'TooManyRequests');
      assert.equal((await limited.client.get('/livez')).status, 200);
      // Administrators get in to do something about it.
      assert.equal((await make('admin-', tokens.admin)).status, 201);
      held.close();
      await eventually(async () => (await make('yes-', tokens.bob)).status === 201, 'room for a write again');
      await client.close();
    });
  });
});

function dial(to: TestServer = server): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({
      port: Number(new URL(to.url).port),
      host: '127.0.0.1',
      ca: cluster.pki.authority,
      ALPNProtocols: ['http/1.1'],
    });
    socket.once('secureConnect', () => resolve(socket));
    socket.once('error', reject);
  });
}

async function readAll(socket: TLSSocket): Promise<string> {
  let text = '';
  for await (const chunk of socket) text += (chunk as Buffer).toString();
  return text;
}

async function metric(pattern: RegExp, of: TestServer = server): Promise<number> {
  const { text } = await of.client.get('/metrics');
  return Number(pattern.exec(text)?.[1] ?? 0);
}

/** Waits until so many requests are under way; the scrape itself is one that reads. */
async function inFlight(kind: 'readOnly' | 'mutating', count: number, of: TestServer = server): Promise<void> {
  const pattern = new RegExp(`apiserver_current_inflight_requests\\{request_kind="${kind}"\\} (\\d+)\\n`);
  await eventually(async () => (await metric(pattern, of)) === count, `${count} ${kind} requests under way`);
}

function watchers(): Promise<number> {
  return metric(/apiserver_registered_watchers\{group="",version="v1",kind="ConfigMap"\} (\d+)\n/);
}
