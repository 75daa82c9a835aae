import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { AttackScene } from './support/attack-scene.js';
import { Http2Client } from './support/http2-client.js';
import { send } from './support/raw-http.js';
import { type TestCluster, tokens } from './support/test-cluster.js';

const value = 'c2VjcmV0LXZhbHVl';
const { alice } = tokens;

let scene: AttackScene;
let cluster: TestCluster;

before(async () => {
  scene = await AttackScene.start();
  cluster = scene.cluster;
  await scene.make('/api/v1/namespaces', { metadata: { name: 'a' } });
  await scene.make('/api/v1/namespaces/a/secrets', { metadata: { name: 'open' }, data: { key: value } });
  const rules = [
    { verbs: ['get'], apiGroups: [''], resources: ['secrets'] },
    { verbs: ['*'], apiGroups: [''], resources: ['configmaps'] },
  ];
  await scene.grant('one', 'alice', rules, 'a');
  await scene.mayRead('/api/v1/namespaces/a/secrets/open', alice);
});
after(() => scene?.stop());

describe('HTTP/1.1 that a proxy may read in another way', () => {
  const smuggled = `GET /api/v1/namespaces/a/secrets/open HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${alice}\r\n\r\n`;
  const head = (fields: string, method = 'POST') =>
    `${method} /api/v1/namespaces/a/configmaps HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${alice}\r\n${fields}`;
  const ambiguous: Readonly<Record<string, string>> = {
    'two ways to tell the length': head(`Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`),
    'two ways, in another order': head(`Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${smuggled}`),
    'two lengths': head(`Content-Length: 0\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`),
    'lengths in a list': head(`Content-Length: 0, ${smuggled.length}\r\n\r\n${smuggled}`),
    'a length with a sign': head(`Content-Length: +0\r\n\r\n${smuggled}`),
    'a length that is negative': head(`Content-Length: -1\r\n\r\n${smuggled}`),
    'a length in hexadecimal': head(`Content-Length: 0x0\r\n\r\n${smuggled}`),
    'a length that is too long': head(`Content-Length: 99999999999999999999999\r\n\r\n${smuggled}`),
    'a coding that is not known': head(`Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${smuggled}`),
    'a coding twice': head(`Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n${smuggled}`),
    'a coding that does not end in chunks': head(`Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${smuggled}`),
    'a blank before the colon': head(`Content-Length : 0\r\n\r\n${smuggled}`),
    'a folded line': head(`X-A: b\r\n Content-Length: 3\r\n\r\n${smuggled}`),
    'a folded coding': head(`Transfer-Encoding:\r\n chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${smuggled}`),
    'a bare line feed': head(`Content-Length: 0\nX: y\r\n\r\n${smuggled}`),
    'a bare carriage return': head(`X: a\rContent-Length: 5\r\n\r\n${smuggled}`),
    'a zero byte in a value': head(`X: a\0b\r\n\r\n${smuggled}`),
    'a zero byte in a name': head(`X\0: a\r\n\r\n${smuggled}`),
    'a length of a chunk that is too long': head(`Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n${smuggled}`),
    'a chunk with a sign': head(`Transfer-Encoding: chunked\r\n\r\n+0\r\n\r\n${smuggled}`),
    'a chunk that ends with a line feed': head(`Transfer-Encoding: chunked\r\n\r\n1\r\nZ\n0\r\n\r\n${smuggled}`),
    'no host': `GET / HTTP/1.1\r\nAuthorization: Bearer ${alice}\r\n\r\n${smuggled}`,
    'a version that is not there': `GET / HTTP/1.9\r\nHost: x\r\n\r\n${smuggled}`,
    'a second request line': `GET / HTTP/1.1 HTTP/1.1\r\nHost: x\r\n\r\n${smuggled}`,
  };

  for (const [what, text] of Object.entries(ambiguous)) {
    it(`${what} is refused, and nothing behind it is read as a request`, async () => {
      const { statuses, body } = await send(cluster.first.url, cluster.pki.authority, [text]);
      assert.equal(statuses.length, 1, `${statuses}\n${body}`);
      assert.ok((statuses[0] as number) >= 400 && (statuses[0] as number) < 500, String(statuses));
      assert.ok(!body.includes(value), 'the request in the body was answered');
    });
  }

  it('a plain request and its body are told apart', async () => {
    const body = '{"metadata":{"name":"told-apart"}}';
    const { statuses } = await send(cluster.first.url, cluster.pki.authority, [
      head(`Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`),
      smuggled.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'),
    ]);
    assert.deepEqual(statuses, [201, 200]);
  });

  it('an upgrade that is ignored is the last request of its connection', async () => {
    const { port } = new URL(cluster.first.url);
    const socket = connectTls({ port: Number(port), ca: cluster.pki.authority, ALPNProtocols: ['http/1.1'] });
    let text = '';
    socket.on('data', (data: Buffer) => {
      text += data.toString();
    });
    await once(socket, 'secureConnect');
    const asking = smuggled.replace('\r\n\r\n', '\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n');
    socket.write(asking + smuggled);
    await once(socket, 'end', { signal: AbortSignal.timeout(30_000) });
    assert.deepEqual(text.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 200']);
    assert.match(text, /\r\nconnection: close\r\n/i);
  });

  it('a refused upgrade does not keep the connection of a client that never closes it', async () => {
    const { port } = new URL(cluster.first.url);
    const tcp = connectTcp({ port: Number(port), host: 'localhost', allowHalfOpen: true });
    const socket = connectTls({ socket: tcp, servername: 'localhost', ca: cluster.pki.authority });
    const broken = once(socket, 'error', { signal: AbortSignal.timeout(30_000) });
    await once(socket, 'secureConnect');
    const asking = 'Upgrade: websocket\r\nConnection: Upgrade\r\n';
    socket.write(`GET /api/v1/namespaces/default/pods?watch=1 HTTP/1.1\r\nHost: x\r\n${asking}\r\n`);
    socket.resume();
    await once(socket, 'end');
    // A closed connection resets when more arrives.
    const sending = setInterval(() => socket.write('x'), 100);
    await broken.finally(() => clearInterval(sending));
    socket.destroy();
  });

  it('a body that is refused unread is not taken for the next request', async () => {
    // 403 before the body is read: the bytes that follow still belong to the body.
    const body = smuggled.padEnd(600, 'x');
    const { statuses, body: text } = await send(cluster.first.url, cluster.pki.authority, [
      `POST /api/v1/namespaces/b/secrets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${alice}\r\nContent-Length: ${body.length}\r\n\r\n`,
      body,
    ]);
    assert.deepEqual(statuses, [403]);
    assert.ok(!text.includes(value));
  });
});

/** One HTTP/2 frame (RFC 9113 section 4.1). */
function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A field that is not indexed, with short texts (RFC 7541 section 6.2.2). */
function field(name: string, text: string): Buffer {
  const part = (bytes: Buffer) => {
    assert.ok(bytes.length < 127);
    return Buffer.concat([Buffer.of(bytes.length), bytes]);
  };
  return Buffer.concat([Buffer.of(0), part(Buffer.from(name)), part(Buffer.from(text, 'latin1'))]);
}

const preface = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(4, 0, 0, Buffer.alloc(0))]);
const types = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goaway: 7, continuation: 9 } as const;
const endHeaders = 4;
const endStream = 1;

/** A response may take a while on a busy machine. */
const patienceMs = 60_000;

/** The frames that a server sent over a bare connection, with the types of complete ones. */
class FrameReader {
  bytes = Buffer.alloc(0);
  readonly types: number[] = [];
  /** Whether no more frames come on the last stream. */
  isOver = false;
  private at = 0;

  constructor(private readonly lastStream: number) {}

  take(chunk: Buffer): void {
    this.bytes = Buffer.concat([this.bytes, chunk]);
    const { bytes } = this;
    for (;;) {
      const end = this.at + 9 <= bytes.length ? this.at + 9 + bytes.readUIntBE(this.at, 3) : Number.POSITIVE_INFINITY;
      if (end > bytes.length) return;
      const type = bytes[this.at + 3] as number;
      const isLast =
        (type === types.data || type === types.headers) && ((bytes[this.at + 4] as number) & endStream) !== 0;
      this.types.push(type);
      if (bytes.readUInt32BE(this.at + 5) === this.lastStream && (isLast || type === types.reset)) this.isOver = true;
      this.at = end;
    }
  }
}

/**
 * The frames that a server sent over a bare connection, until it closed the connection or the last stream, or, if
 * `idleMs` is given, sent nothing for that time.
 */
async function frames(
  sent: readonly Buffer[],
  idleMs?: number,
  lastStream = 1,
): Promise<{ types: readonly number[]; bytes: Buffer; closed: boolean }> {
  const { hostname, port } = new URL(cluster.first.url);
  const socket = connectTls({ host: hostname, port: Number(port), ca: cluster.pki.authority, ALPNProtocols: ['h2'] });
  const reader = new FrameReader(lastStream);
  let closed = true;
  const leave = () => {
    closed = false;
    socket.destroy();
  };
  socket.on('data', (chunk: Buffer) => {
    reader.take(chunk);
    if (reader.isOver && idleMs === undefined) leave();
  });
  socket.on('error', () => undefined);
  const end = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  await once(socket, 'secureConnect');
  socket.setTimeout(idleMs ?? patienceMs, leave);
  socket.write(preface);
  for (const bytes of sent) {
    if (socket.destroyed) break;
    if (!socket.write(bytes)) await Promise.race([once(socket, 'drain').catch(() => undefined), end]);
  }
  await end;
  return { types: reader.types, bytes: reader.bytes, closed };
}

describe('HTTP/2 that is not as it should be', () => {
  const request = (path: string, more: readonly Buffer[] = [], authorization = `Bearer ${alice}`) =>
    Buffer.concat([
      field(':method', 'GET'),
      field(':scheme', 'https'),
      field(':path', path),
      field(':authority', 'x'),
      ...more,
      field('authorization', authorization),
    ]);
  const headers = (block: Buffer, stream = 1) => frame(types.headers, endHeaders | endStream, stream, block);
  const open = '/api/v1/namespaces/a/secrets/open';

  const malformed: Readonly<Record<string, Buffer>> = {
    'two paths': request('/healthz', [field(':path', open)]),
    'two methods': request(open, [field(':method', 'DELETE')]),
    'two authorities': request(open, [field(':authority', 'y')]),
    'a pseudo field that is not known': request(open, [field(':user', 'admin')]),
    'a pseudo field behind the others': Buffer.concat([request(open), field(':path', open)]),
    'a pseudo field of answers': request(open, [field(':status', '200')]),
    'no path': Buffer.concat([field(':method', 'GET'), field(':scheme', 'https'), field(':authority', 'x')]),
    'an empty path': request(''),
    'a name in upper case': request(open, [field('X-Upper', 'x')]),
    'a field of one connection': request(open, [field('connection', 'close')]),
    'a coding': request(open, [field('transfer-encoding', 'chunked')]),
    'a blank in the path': request(`${open} HTTP/1.1`),
    'a line end in the path': request(`${open}\r\nx: y`),
    'a length that is not the length': request(open, [field('content-length', '5')]),
  };

  it('a request that is as it should be is answered', async () => {
    const { bytes } = await frames([headers(request(open))]);
    assert.ok(bytes.includes(value));
  });

  for (const [what, block] of Object.entries(malformed)) {
    it(`${what} is refused`, async () => {
      const { bytes, types: seen } = await frames([headers(block)]);
      assert.ok(!bytes.includes(value), 'the secret was answered');
      const isRefused = seen.includes(types.reset) || seen.includes(types.goaway) || seen.includes(types.headers);
      assert.ok(isRefused, String(seen));
    });
  }

  it('a value with a line end or a zero byte is no value', async () => {
    for (const odd of [`Bearer ${alice}\r\nx: y`, `Bearer ${alice}\0`, `Bearer ${alice}\n`]) {
      const block = request(open, [], odd);
      assert.ok(!(await frames([headers(block)])).bytes.includes(value), JSON.stringify(odd));
    }
  });

  it('another host than the authority changes nothing', async () => {
    const { bytes } = await frames([headers(request(open, [field('host', 'other.example')]))]);
    assert.ok(bytes.includes(value) && !bytes.includes('other.example'));
  });

  it('a flood of resets ends the connection', async () => {
    const flood: Buffer[] = [];
    for (let i = 0; i < 700; i += 50) {
      const some: Buffer[] = [];
      for (let j = i; j < i + 50; j++) {
        const stream = 2 * j + 1;
        some.push(headers(request('/healthz'), stream), frame(types.reset, 0, stream, Buffer.of(0, 0, 0, 8)));
      }
      flood.push(Buffer.concat(some));
    }
    const { closed, types: seen } = await frames(flood, 20_000);
    assert.ok(closed && seen.includes(types.goaway), `closed ${closed}`);
  });

  it('all streams may be cancelled at once', async () => {
    const all = Array.from({ length: 249 }, (_, i) =>
      Buffer.concat([headers(request('/healthz'), 2 * i + 3), frame(types.reset, 0, 2 * i + 3, Buffer.of(0, 0, 0, 8))]),
    );
    const { bytes } = await frames([...all, headers(request(open), 501)], undefined, 501);
    assert.ok(bytes.includes(value));
  });

  it('a head that never ends ends the connection', async () => {
    const part = Buffer.concat(Array.from({ length: 100 }, () => field('x-long', 'y'.repeat(100))));
    const start = frame(types.headers, endStream, 1, request(open));
    const more = Array.from({ length: 2_000 }, () => frame(types.continuation, 0, 1, part));
    const { closed, bytes } = await frames([start, ...more], 60_000);
    assert.ok(closed);
    assert.ok(!bytes.includes(value));
    const empty = Array.from({ length: 200 }, () =>
      Buffer.concat(Array.from({ length: 100 }, () => frame(types.continuation, 0, 1, Buffer.alloc(0)))),
    );
    assert.ok((await frames([start, ...empty], 60_000)).closed, 'empty parts count too');
  });

  it('a small head that becomes a large one is refused', async () => {
    // One long field enters the table; each byte after that repeats it.
    const long = Buffer.concat([
      Buffer.of(0x40, 1),
      Buffer.from('x'),
      Buffer.of(0x7f, 0xa1, 0x1e),
      Buffer.alloc(4000, 0x79),
    ]);
    const bomb = Buffer.concat([request(open), long, Buffer.alloc(10_000, 0x80 | 62)]);
    const { bytes } = await frames([headers(bomb)]);
    assert.ok(!bytes.includes(value));
    const repeated = Buffer.concat([request(open), Buffer.alloc(10_000, 0x80 | 62)]);
    const flood = Array.from({ length: 300 }, (_, i) => headers(i === 0 ? bomb : repeated, 2 * i + 1));
    const { closed, types: seen } = await frames(flood, 20_000);
    assert.ok(closed && seen.includes(types.goaway), 'many of them end the connection');
  });

  it('floods of settings and pings do not keep others waiting', async () => {
    const other = await Http2Client.connect(cluster.first.url, cluster.pki.authority, tokens.admin);
    try {
      const many = (type: number, payload: Buffer) =>
        Array.from({ length: 100 }, () => Buffer.concat(Array.from({ length: 200 }, () => frame(type, 0, 0, payload))));
      const floods = [
        frames(many(types.settings, Buffer.alloc(0)), 2_000),
        frames(many(types.ping, Buffer.alloc(8)), 2_000),
      ];
      assert.equal((await other.send('GET', '/readyz')).status, 200);
      await Promise.all(floods);
      assert.equal((await other.send('GET', '/readyz')).status, 200);
    } finally {
      await other.close();
    }
  });

  it('leaves the server in order', async () => {
    assert.equal((await cluster.first.client.get('/readyz')).status, 200);
    assert.equal(cluster.first.process.exitCode, null);
    assert.doesNotMatch(cluster.first.log, /request failed|uncaught|unhandled/i);
  });
});
