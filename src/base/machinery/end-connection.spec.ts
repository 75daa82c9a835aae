import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { endConnection } from './end-connection.js';

test('a connection is closed after its last bytes, though its client sends on and never closes it', async (context) => {
  const server = createServer({ allowHalfOpen: true });
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => server.close());
  const client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
  client.on('error', () => undefined);
  context.after(() => client.destroy());
  const [socket] = await accepted;
  client.write('x'.repeat(100_000));
  const closed = once(socket, 'close');
  endConnection(socket, 'the end');
  let text = '';
  client.on('data', (chunk) => {
    text += chunk;
  });
  await once(client, 'end');
  assert.equal(text, 'the end');
  await closed;
});
