import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, Socket } from 'node:net';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { serverAuth, TestIdentity } from '../../../test/support/test-authority.js';
import { PacedHandshakes } from './paced-handshakes.js';

/** A socket that is not connected and pretends to have the given address. */
function socketFrom(address: string): Socket {
  return Object.defineProperty(new Socket(), 'remoteAddress', { value: address });
}

test('begins a few handshakes in a turn, and those of other addresses before the rest of a burst', async () => {
  const begun: string[] = [];
  const server = createServer((socket) => begun.push(String(socket.remoteAddress)));
  const paced = PacedHandshakes.watch(server);
  for (let n = 0; n < 20; n++) server.emit('connection', socketFrom('10.0.0.1'));
  server.emit('connection', socketFrom('10.0.0.2'));
  assert.equal(begun.length, 4);
  assert.equal(paced.size, 17);
  await nextTurn();
  assert.equal(begun.length, 8);
  assert.ok(begun.slice(4, 6).includes('10.0.0.2'), begun.join());
  while (paced.size > 0) await nextTurn();
  assert.equal(begun.length, 21);
});

test('a connection that its client closes while it waits is forgotten', async () => {
  const begun: Socket[] = [];
  const server = createServer((socket) => begun.push(socket));
  const paced = PacedHandshakes.watch(server);
  const sockets = Array.from({ length: 6 }, () => socketFrom('10.0.0.1'));
  for (const socket of sockets) server.emit('connection', socket);
  const [last] = sockets.slice(-1) as [Socket];
  last.destroy();
  while (paced.size > 0) await nextTurn();
  assert.equal(begun.length, 5);
  assert.ok(!begun.includes(last));
});

test('a connection that has waited is served, with what its client sent meanwhile', async (context) => {
  const root = await TestIdentity.root('root');
  const names = [{ type: 'dns', value: 'localhost' }] as const;
  const { chain, key } = await root.issue({ subject: [{ CN: ['localhost'] }], usages: [serverAuth], names });
  const server = createTlsServer({ cert: chain, key }, (socket) => socket.end('served'));
  PacedHandshakes.watch(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const answers = Array.from({ length: 40 }, async () => {
    const raw = connect(port, '127.0.0.1');
    const client = connectTls({ socket: raw, ca: root.cert, servername: 'localhost' });
    const [data] = (await once(client, 'data')) as [Buffer];
    client.destroy();
    return data.toString();
  });
  assert.deepEqual(new Set(await Promise.all(answers)), new Set(['served']));
});
