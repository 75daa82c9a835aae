import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { connect, constants, createServer, type Http2SecureServer } from 'node:http2';
import { type AddressInfo, connect as connectSocket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { PacedRequests } from './paced-requests.js';

/** The path of a head in the table of HTTP/2: `/` or `/index.html`. */
const paths = { root: 0x84, index: 0x85 };

/** A frame with a whole head: method, scheme and path by their numbers in the table, and the authority `x`. */
function get(stream: number, path: number): Buffer {
  return frame(1, 0x5, stream, Buffer.of(0x82, 0x87, path, 1, 1, 0x78));
}

function reset(stream: number): Buffer {
  return frame(3, 0, stream, Buffer.of(0, 0, 0, constants.NGHTTP2_INTERNAL_ERROR));
}

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

const preface = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(4, 0, 0, Buffer.alloc(0))]);

async function listen(
  context: TestContext,
  begun: { url: string; session: unknown }[],
): Promise<{ port: number; paced: PacedRequests }> {
  const server = createServer({ settings: { maxConcurrentStreams: 1000 } }, (request, response) => {
    begun.push({ url: request.url, session: request.stream.session });
    response.end(request.url);
  });
  const paced = PacedRequests.watch(server as unknown as Http2SecureServer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => server.close());
  return { port: (server.address() as AddressInfo).port, paced };
}

test('requests that are cancelled in the same read do not begin', async (context) => {
  const begun: { url: string; session: unknown }[] = [];
  const { port } = await listen(context, begun);
  const numbers = Array.from({ length: 800 }, (_, i) => 2 * i + 1);
  const socket = connectSocket(port, '127.0.0.1').on('error', () => undefined);
  socket.resume();
  await once(socket, 'connect');
  const flood = numbers.flatMap((stream) => [get(stream, paths.root), reset(stream)]);
  socket.write(Buffer.concat([preface, ...flood, get(2001, paths.index)]));
  while (!begun.some(({ url }) => url === '/index.html')) await nextTurn();
  socket.destroy();
  // The write may arrive in more than one read.
  assert.ok(begun.length > 0 && begun.length <= 200, String(begun.length));
});

test('many requests at once are all answered, and those of other connections before the rest', async (context) => {
  const begun: { url: string; session: unknown }[] = [];
  const { port, paced } = await listen(context, begun);
  const client = connect(`http://127.0.0.1:${port}`);
  context.after(() => client.close());
  await once(client, 'remoteSettings');
  const urls = Array.from({ length: 300 }, (_, i) => `/${i}`);
  const answers = await Promise.all(
    urls.map(async (path) => {
      const stream = client.request({ ':path': path });
      let text = '';
      for await (const part of stream.setEncoding('utf8')) text += part;
      return text;
    }),
  );
  assert.deepEqual(answers, urls);
  assert.deepEqual(
    begun.map(({ url }) => url),
    urls,
  );
  assert.equal(paced.size, 0);
});

/** A request and response as a server reports them, of a connection of its own kind. */
function pretended(socket: object, url: string): [object, object] {
  return [{ url, socket }, {}];
}

test('connections take turns', async () => {
  const begun: string[] = [];
  const server = createHttpServer((request) => begun.push(String(request.url)));
  const paced = PacedRequests.watch(server);
  const [one, other] = [{ destroyed: false }, { destroyed: false }];
  for (let n = 0; n < 100; n++) server.emit('request', ...pretended(one, `/one/${n}`));
  server.emit('request', ...pretended(other, '/other'));
  // Fewer when they took more than their time.
  assert.ok(begun.length >= 1 && begun.length <= 32, String(begun.length));
  while (!begun.includes('/other')) await nextTurn();
  assert.ok(begun.indexOf('/other') <= 33, begun.join());
  one.destroyed = true;
  while (paced.size > 0) await nextTurn();
  assert.ok(begun.length < 101, 'what a lost connection has sent does not begin');
});
