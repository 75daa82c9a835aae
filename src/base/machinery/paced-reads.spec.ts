import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createPlainServer } from 'node:http';
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from 'node:http2';
import { type AddressInfo, connect as connectPlain, type Socket } from 'node:net';
import { after, type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { connect, type TLSSocket } from 'node:tls';
import { serverAuth, TestIdentity } from '../../../test/support/test-authority.js';
import { PacedReads, type ReadLimits } from './paced-reads.js';

const root = await TestIdentity.root('root');
const names = [{ type: 'dns', value: 'localhost' }] as const;
const identity = await root.issue({ subject: [{ CN: ['localhost'] }], usages: [serverAuth], names });

const limits: ReadLimits = {
  socketUnits: 512,
  partyUnits: 8_192,
  mostFields: 25_000,
  usualFields: 64,
  delayMs: 0.01,
  sentAhead: 32,
};
/** As many fields as a read of 64 KiB can bring, when each takes a byte. */
const fieldsOfRead = 66_000;

function frame(type: number, stream: number, payload: Buffer, flags = 0): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** `GET https://a/` as HPACK encodes it. */
const get = Buffer.from([0x82, 0x87, 0x84, 0x01, 1, 0x61]);
/** `POST https://a/wait` with a body. */
const wait = Buffer.concat([Buffer.from([0x83, 0x87, 0x04, 5]), Buffer.from('/wait'), Buffer.from([0x01, 1, 0x61])]);
/** The field `b: c`, to be kept by the receiver as the latest of its table. */
const kept = Buffer.from([0x40, 1, 0x62, 1, 0x63]);
const opening = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  frame(4, 0, Buffer.alloc(0)),
  frame(1, 1, Buffer.concat([get, kept]), 5),
]);

/** Requests with so many fields each, which take a byte. Streams have the numbers after 1. */
function crowded(requests: number, fields: number): Buffer {
  const head = Buffer.concat([get, Buffer.alloc(fields, 0x80 | 62)]);
  return Buffer.concat(Array.from({ length: requests }, (_, n) => frame(1, 2 * n + 3, head, 5)));
}

interface Served {
  readonly server: Http2SecureServer;
  readonly port: number;
  readonly reads: PacedReads;
  /** Requests and fields that came in the turn of the event loop that brought most of them. */
  readonly most: { requests: number; fields: number };
  readonly cuts: string[];
  readonly pending: Http2ServerResponse[];
}

/** A server that answers by the path: at once, or never for `/wait`. */
async function serve(context: TestContext, changed: Partial<ReadLimits> = {}): Promise<Served> {
  const most = { requests: 0, fields: 0 };
  const cuts: string[] = [];
  const pending: Http2ServerResponse[] = [];
  let now = { requests: 0, fields: 0 };
  const options = {
    cert: identity.chain,
    key: identity.key,
    allowHTTP1: true,
    maxHeaderListPairs: 4_096,
    settings: { maxConcurrentStreams: 100_000, maxHeaderListSize: 1 << 20 },
  };
  const server = createSecureServer(options, (request: Http2ServerRequest, response: Http2ServerResponse) => {
    if (now.requests === 0) setImmediate(() => (now = { requests: 0, fields: 0 }));
    now.requests++;
    now.fields += request.rawHeaders.length / 2;
    most.requests = Math.max(most.requests, now.requests);
    most.fields = Math.max(most.fields, now.fields);
    response.on('error', () => undefined);
    if (request.url === '/wait') pending.push(response);
    // As the server does: what ends while it is read can make Node pause in the middle of a read, and fail.
    else setImmediate(() => response.end(request.url));
  });
  Object.assign(server, { maxHeadersCount: 0 });
  server.on('sessionError', () => undefined);
  const reads = new PacedReads((reason) => cuts.push(reason), { ...limits, ...changed });
  reads.watch(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => server.close());
  return { server, port: (server.address() as AddressInfo).port, reads, most, cuts, pending };
}

const sockets: TLSSocket[] = [];
after(() => {
  for (const socket of sockets) socket.destroy();
});

async function open(port: number, protocol: 'h2' | 'http/1.1'): Promise<TLSSocket> {
  const socket = connect({
    port,
    host: '127.0.0.1',
    servername: 'localhost',
    ca: root.cert,
    ALPNProtocols: [protocol],
  });
  socket.on('error', () => undefined);
  sockets.push(socket);
  await once(socket, 'secureConnect');
  return socket;
}

/** Resolves as soon as all requests of an HTTP/1.1 connection are answered. */
async function answersOf(socket: TLSSocket, last: string): Promise<string> {
  let text = '';
  for await (const part of socket.setEncoding('latin1')) {
    text += part;
    if (text.includes(last)) break;
  }
  return text;
}

function getOf(path: string): string {
  return `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`;
}

test('of requests that are sent ahead over HTTP/1.1, no more is read than one read brings, until they are answered', async (context) => {
  const { port, pending } = await serve(context);
  const socket = await open(port, 'http/1.1');
  socket.write(getOf('/wait').repeat(60_000));
  while (pending.length === 0) await nextTurn();
  const other = await open(port, 'http/1.1');
  other.write(getOf('/last'));
  assert.match(await answersOf(other, '/last'), /200 OK/);
  // A read has 64 KiB, a request 28 bytes; the connection may have been read once more before the first came.
  assert.ok(pending.length < 5_000, String(pending.length));
});

test('requests that are sent ahead are all answered, in their order', async (context) => {
  const { port, reads } = await serve(context);
  const socket = await open(port, 'http/1.1');
  const paths = Array.from({ length: 6_000 }, (_, n) => `/${n}`);
  socket.write([...paths, '/last'].map(getOf).join(''));
  const text = await answersOf(socket, '/last');
  assert.deepEqual(
    text.match(/\r\n\r\n\/\w+?(?=HTTP|$)/g)?.map((found) => found.slice(4)),
    [...paths, '/last'],
  );
  while (reads.stopped > 0) await nextTurn();
});

test('a turn begins no more fields of a connection than one read brings', async (context) => {
  const { port, most } = await serve(context, { mostFields: 1_000_000 });
  const socket = await open(port, 'h2');
  socket.resume();
  socket.write(opening);
  socket.write(crowded(1_000, 1_900));
  while (most.requests < 10) await nextTurn();
  const other = await open(port, 'http/1.1');
  other.write(getOf('/last'));
  await answersOf(other, '/last');
  assert.ok(most.fields < fieldsOfRead, String(most.fields));
});

test('a client address has to wait for further heads with very many fields, on new connections too', async (context) => {
  const { port, reads, most } = await serve(context, { delayMs: 1_000 });
  const socket = await open(port, 'h2');
  socket.resume();
  socket.write(Buffer.concat([opening, crowded(1, 600)]));
  while (reads.stopped === 0) await nextTurn();
  const fresh = await open(port, 'http/1.1');
  fresh.write(getOf('/last'));
  let answered = false;
  void answersOf(fresh, '/last').then(() => {
    answered = true;
  });
  while (reads.stopped < 2) await nextTurn();
  for (let n = 0; n < 100; n++) await nextTurn();
  assert.equal(answered, false);
  assert.ok(most.fields >= 600, String(most.fields));
});

test('an HTTP/2 connection that brings more fields at once than a client needs is closed', async (context) => {
  const { port, cuts, most } = await serve(context);
  const socket = await open(port, 'h2');
  socket.resume();
  socket.write(Buffer.concat([opening, crowded(64, 1_900)]));
  await once(socket, 'close');
  assert.deepEqual(cuts, ['crowded-heads']);
  assert.ok(most.fields < limits.mostFields + 2_000, String(most.fields));
});

for (const protocol of ['h2', 'http/1.1'] as const) {
  test(`a body of small pieces that waits for its reader over ${protocol} is put together`, async (context) => {
    const { port, pending } = await serve(context, { delayMs: 0 });
    const socket = await open(port, protocol);
    socket.resume();
    const count = 60_000;
    if (protocol === 'h2') {
      socket.write(Buffer.concat([opening, frame(1, 3, wait, 4)]));
      socket.write(Buffer.concat(Array.from({ length: count }, () => frame(0, 3, Buffer.from('x')))));
    } else {
      socket.write('POST /wait HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n');
      socket.write('1\r\nx\r\n'.repeat(count));
    }
    while (pending.length === 0) await nextTurn();
    const [{ req: request }] = pending as [Http2ServerResponse];
    const source = protocol === 'h2' ? request.stream : request;
    while (source.readableLength < count) await nextTurn();
    let pieces = 0;
    let bytes = 0;
    request.on('data', (piece: Buffer) => {
      pieces++;
      bytes += piece.length;
    });
    while (bytes < count) await nextTurn();
    assert.equal(bytes, count);
    assert.ok(pieces < 1_000, String(pieces));
  });

  test(`a turn brings no more small pieces of a body over ${protocol} than one read`, async (context) => {
    const { port, pending } = await serve(context, { delayMs: 0 });
    const socket = await open(port, protocol);
    socket.resume();
    if (protocol === 'h2') {
      socket.write(Buffer.concat([opening, frame(1, 3, wait, 4)]));
      socket.write(Buffer.concat(Array.from({ length: 65_000 }, () => frame(0, 3, Buffer.from('x')))));
    } else {
      socket.write('POST /wait HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n');
      socket.write('1\r\nx\r\n'.repeat(200_000));
    }
    while (pending.length === 0) await nextTurn();
    const [{ req: request }] = pending as [Http2ServerResponse];
    let [most, now, all] = [0, 0, 0];
    request.on('data', (piece: Buffer) => {
      if (now === 0) {
        setImmediate(() => {
          now = 0;
        });
      }
      now += piece.length;
      all += piece.length;
      most = Math.max(most, now);
    });
    while (all < 60_000) await nextTurn();
    // What waited before the reader came is one piece.
    assert.ok(most < 24_000, String(most));
  });
}

test('when a client address brings too much in a turn, its other connections wait for later turns', async (context) => {
  const { port, most, reads } = await serve(context, { partyUnits: 100, socketUnits: 50 });
  const all = await Promise.all(Array.from({ length: 60 }, () => open(port, 'http/1.1')));
  for (const socket of all) socket.write(getOf('/') + getOf('/') + getOf('/last'));
  await Promise.all(all.map((socket) => answersOf(socket, '/last')));
  // Each request counts 17, the sixth is the last in a turn. Two turns may look like one to the counter of this test.
  assert.ok(most.requests <= 12, String(most.requests));
  while (reads.stopped > 0) await nextTurn();
});

/** Sends a long body on each of these connections; counts the bytes of all that have arrived, and those of one turn. */
async function sendBodies(all: readonly TLSSocket[], { pending }: Served, bytes: number) {
  const counts = { most: 0, now: 0, all: 0 };
  const body = Buffer.alloc(bytes);
  for (const socket of all) {
    socket.write(`POST /wait HTTP/1.1\r\nhost: a\r\ncontent-length: ${bytes}\r\n\r\n`);
    socket.write(body);
  }
  const arrived = ({ length }: Buffer) => {
    if (counts.now === 0) {
      setImmediate(() => {
        counts.now = 0;
      });
    }
    counts.now += length;
    counts.all += length;
    counts.most = Math.max(counts.most, counts.now);
  };
  for (let next = 0; next < all.length; ) {
    if (pending.length > next) (pending[next++] as Http2ServerResponse).req.on('data', arrived);
    else await nextTurn();
  }
  return counts;
}

test('a turn brings no more bytes of long bodies of a client address than their share', async (context) => {
  const served = await serve(context, { partyUnits: 1_000 });
  const all = await Promise.all(Array.from({ length: 24 }, () => open(served.port, 'http/1.1')));
  const bytes = 1024 * 1024;
  const counts = await sendBodies(all, served, bytes);
  while (counts.all < all.length * bytes) await nextTurn();
  // Two turns may look like one to the counter of this test.
  assert.ok(counts.most < 2.5 * bytes, String(counts.most));
});

test('a short request does not wait for a round of all connections that bring long bodies', async (context) => {
  const served = await serve(context, { partyUnits: 3_000 });
  const all = await Promise.all(Array.from({ length: 40 }, () => open(served.port, 'http/1.1')));
  const light = await open(served.port, 'http/1.1');
  const bytes = 1024 * 1024;
  const counts = await sendBodies(all, served, bytes);
  let [most, answers] = [0, 0];
  while (counts.all < all.length * bytes) {
    const before = counts.all;
    light.write(getOf('/'));
    await once(light, 'data');
    answers++;
    most = Math.max(most, counts.all - before);
  }
  assert.ok(most < 10 * bytes, `${most} bytes during the slowest of ${answers} requests`);
});

test('a turn brings no more of a connection with another protocol than one read', async (context) => {
  const { server, port } = await serve(context);
  const accepted = once(server, 'upgrade');
  const socket = await open(port, 'http/1.1');
  socket.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n');
  const [, upgraded] = (await accepted) as [unknown, Socket];
  const sent = 8 * 1024 * 1024;
  socket.write(Buffer.alloc(sent));
  let [most, now, all] = [0, 0, 0];
  upgraded.on('data', (piece: Buffer) => {
    if (now === 0) {
      setImmediate(() => {
        now = 0;
      });
    }
    now += piece.length;
    all += piece.length;
    most = Math.max(most, now);
  });
  while (all < sent) await nextTurn();
  // Two turns may look like one to the counter of this test.
  assert.ok(most <= 3 * 65_536, String(most));
  upgraded.destroy();
});

test('a server of plain HTTP reads no further ahead either', async (context) => {
  let underWay = 0;
  const server = createPlainServer(() => {
    underWay++;
  });
  new PacedReads().watch(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const socket = connectPlain(port, '127.0.0.1').on('error', () => undefined);
  context.after(() => {
    socket.destroy();
    server.close();
    server.closeAllConnections();
  });
  socket.write(getOf('/wait').repeat(100_000));
  while (underWay === 0) await nextTurn();
  const other = connectPlain(port, '127.0.0.1').on('error', () => undefined);
  other.write(getOf('/wait'));
  for (let n = 0; n < 300; n++) await nextTurn();
  other.destroy();
  assert.ok(underWay < 5_000, String(underWay));
});
