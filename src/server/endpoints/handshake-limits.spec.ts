import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { after, before, it } from 'node:test';
import { connect as connectTls, createServer, type Server } from 'node:tls';
import { serverAuth, TestIdentity } from '../../../test/support/test-authority.js';
import { HandshakeLimits } from './handshake-limits.js';
import { PacedHandshakes } from './paced-handshakes.js';

const limitMs = 200;
const reasons: string[] = [];
let ca: string;
let server: Server;

before(async () => {
  const root = await TestIdentity.root('root');
  ca = root.cert;
  const names = [{ type: 'dns', value: 'localhost' }] as const;
  const { chain, key } = await root.issue({ subject: [{ CN: ['localhost'] }], usages: [serverAuth], names });
  server = createServer({ cert: chain, key }, (socket) => socket.end('served'));
  const limits = new HandshakeLimits((reason) => reasons.push(reason), { limitMs, lookMs: 10 });
  limits.watch(server);
  PacedHandshakes.watch(server, (socket) => limits.begun(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

after(() => server.close());

const port = () => (server.address() as AddressInfo).port;

it('a process that stands still serves the connections that were made just before', async () => {
  server.once('connection', () => {
    const end = performance.now() + 3 * limitMs;
    while (performance.now() < end);
  });
  const client = connectTls({ port: port(), host: '127.0.0.1', servername: 'localhost', ca });
  const [data] = (await once(client, 'data')) as [Buffer];
  assert.equal(data.toString(), 'served');
  client.destroy();
  assert.deepEqual(reasons, []);
});

it('a client that does not go on with its handshake is disconnected, and the reason noted', async () => {
  const client: Socket = connect(port(), '127.0.0.1');
  client.on('error', () => undefined);
  await once(client, 'close');
  assert.deepEqual(reasons, ['handshake']);
});
