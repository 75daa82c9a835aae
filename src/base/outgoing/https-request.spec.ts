import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent as PlainAgent } from 'node:http';
import { Agent, createServer, type Server } from 'node:https';
import { type AddressInfo, createServer as createPlainServer, type Socket } from 'node:net';
import { after, before, it, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createServer as createTlsServer } from 'node:tls';
import { serverAuth, TestIdentity } from '../../../test/support/test-authority.js';
import { exchange } from './exchange.js';
import { httpsRequest } from './https-request.js';

/** More connections than a busy process finds closed one after the other by chance. */
const connections = 12;

let server: Server;
let agent: Agent;
let identity: { readonly cert: string; readonly key: string };
let received = 0;
const sockets = new Set<Socket>();

before(async () => {
  const root = await TestIdentity.root('root');
  const names = [{ type: 'ip', value: '127.0.0.1' }] as const;
  const { chain, key } = await root.issue({ subject: [{ CN: ['server'] }], usages: [serverAuth], names });
  identity = { cert: chain, key };
  server = createServer(identity, (request, response) => {
    request.resume().once('end', () => {
      received++;
      response.end('answered');
    });
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  agent = new Agent({ keepAlive: true, maxFreeSockets: connections, ca: root.cert });
});

after(() => {
  agent.destroy();
  server.close();
});

const port = () => (server.address() as AddressInfo).port;
const post = (body: Buffer) =>
  httpsRequest({
    url: new URL(`https://127.0.0.1:${port()}/`),
    method: 'POST',
    agent,
    headers: {},
    body,
    signal: new AbortController().signal,
    maxAnswerBytes: 1000,
  });

/** Leaves the agent with connections that the server has closed, as after a time in which the process stood still. */
async function makeStale(): Promise<void> {
  await Promise.all(Array.from({ length: connections }, () => post(Buffer.from('{}'))));
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(Object.values(agent.freeSockets).flat().length, connections);
  for (const socket of sockets) socket.destroy();
  received = 0;
}

it('a request finds a connection although the server has closed all kept ones', async () => {
  await makeStale();
  assert.equal((await post(Buffer.from('{}'))).text, 'answered');
  assert.equal(received, 1);
});

it('so does a request with a long body', async () => {
  await makeStale();
  assert.equal((await post(Buffer.alloc(8 * 2 ** 20, 'x'))).text, 'answered');
  assert.equal(received, 1);
});

it('so does a read whose answer is passed on', async () => {
  await makeStale();
  const { response } = await exchange({
    agent,
    host: '127.0.0.1',
    port: port(),
    method: 'GET',
    path: '/',
    headers: {},
    connectLimitMs: 60_000,
    signal: new AbortController().signal,
  });
  response.resume();
  await once(response, 'end');
  assert.deepEqual([response.statusCode, received], [200, 1]);
});

/** A server of plain HTTP that answers every connection with these bytes. */
async function answering(context: TestContext, bytes: Buffer): Promise<number> {
  const plain = createPlainServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.write(bytes));
  });
  plain.listen(0, '127.0.0.1');
  await once(plain, 'listening');
  context.after(() => plain.close());
  return (plain.address() as AddressInfo).port;
}

it('reads an answer in chunks of one byte over many turns of the event loop', async (context) => {
  const count = 300_000;
  const head = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
  const plainPort = await answering(context, Buffer.from(`${head}${'1\r\nx\r\n'.repeat(count)}`));
  const plainAgent = new PlainAgent();
  const answer = await exchange({
    agent: plainAgent,
    host: '127.0.0.1',
    port: plainPort,
    method: 'GET',
    path: '/',
    headers: {},
    signal: new AbortController().signal,
    connectLimitMs: 10_000,
  });
  let [most, now, all] = [0, 0, 0];
  answer.response.on('data', (piece: Buffer) => {
    if (now === 0) {
      setImmediate(() => {
        now = 0;
      });
    }
    now += piece.length;
    all += piece.length;
    most = Math.max(most, now);
  });
  while (all < 100_000) await nextTurn();
  answer.response.destroy();
  plainAgent.destroy();
  // A read has 64 KiB. Two turns may look like one to the counter of this test.
  assert.ok(most < 24_000, String(most));
});

it('ends a request that gets informational answers without end', async (context) => {
  const secure = createTlsServer(identity, (socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      const hints = Buffer.from('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1_000));
      const more = () => {
        while (!socket.destroyed && socket.write(hints));
        socket.once('drain', more);
      };
      more();
    });
  });
  secure.listen(0, '127.0.0.1');
  await once(secure, 'listening');
  context.after(() => secure.close());
  const { port: securePort } = secure.address() as AddressInfo;
  const asked = httpsRequest({
    url: new URL(`https://127.0.0.1:${securePort}/`),
    agent: false,
    tls: { rejectUnauthorized: false },
    headers: {},
    signal: AbortSignal.timeout(5_000),
    maxAnswerBytes: 1000,
  });
  await assert.rejects(asked, { message: 'too many informational responses' });
});
