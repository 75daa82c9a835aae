import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { after, before, it } from 'node:test';
import { serverAuth, TestIdentity } from '../../../test/support/test-authority.js';
import { exchange } from './exchange.js';
import { httpsRequest } from './https-request.js';

/** More connections than a busy process finds closed one after the other by chance. */
const connections = 12;

let server: Server;
let agent: Agent;
let received = 0;
const sockets = new Set<Socket>();

before(async () => {
  const root = await TestIdentity.root('root');
  const names = [{ type: 'ip', value: '127.0.0.1' }] as const;
  const { chain, key } = await root.issue({ subject: [{ CN: ['server'] }], usages: [serverAuth], names });
  server = createServer({ cert: chain, key }, (request, response) => {
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
