import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { WebSocket, WebSocketServer } from 'ws';
import { sendFrames } from './send-frames.js';

const server = createServer();
const acceptor = new WebSocketServer({ noServer: true, perMessageDeflate: false });

before(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

after(() => {
  server.closeAllConnections();
  server.close();
});

/** Both ends of a connection. */
async function connected(): Promise<{ client: WebSocket; webSocket: WebSocket; socket: Duplex }> {
  const upgraded = once(server, 'upgrade') as Promise<[IncomingMessage, Duplex, Buffer]>;
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const [request, socket, head] = await upgraded;
  const webSocket = await new Promise<WebSocket>((resolve) => acceptor.handleUpgrade(request, socket, head, resolve));
  if (client.readyState !== WebSocket.OPEN) await once(client, 'open');
  return { client, webSocket, socket };
}

/** Counts what a connection writes at once. */
function countWrites(socket: Duplex): () => number {
  let writes = 0;
  const inner = socket as unknown as Record<'_write' | '_writev', (...given: unknown[]) => unknown>;
  for (const name of ['_write', '_writev'] as const) {
    const before = inner[name].bind(socket);
    inner[name] = (...given) => {
      writes++;
      return before(...given);
    };
  }
  return () => writes;
}

describe('frames of a watch', () => {
  for (const isBinary of [false, true]) {
    it(`arrive whole and in order in few writes (${isBinary ? 'binary' : 'text'})`, async () => {
      const { client, webSocket, socket } = await connected();
      const frames = Array.from({ length: 3000 }, (_, i) => Buffer.from(`${i}:${'x'.repeat(i % 500)}`));
      const received: Buffer[] = [];
      const all = new Promise<void>((resolve) => {
        client.on('message', (data: Buffer, binary: boolean) => {
          assert.equal(binary, isBinary);
          if (received.push(data) === frames.length) resolve();
        });
      });
      const writes = countWrites(socket);
      await sendFrames(webSocket, socket, frames, isBinary);
      await all;
      assert.deepEqual(received.map(String), frames.map(String));
      assert.ok(writes() < 100, `${writes()} writes`);
      client.terminate();
    });
  }

  it('are not all handed over while the client does not read', async () => {
    const { client, webSocket, socket } = await connected();
    client.pause();
    const frames = Array.from({ length: 400 }, () => Buffer.alloc(60_000, 'x'));
    const sending = sendFrames(webSocket, socket, frames, true);
    let isDone = false;
    void sending.then(() => {
      isDone = true;
    });
    while (!socket.writableNeedDrain && !isDone) await nextRound();
    assert.ok(socket.writableLength < 1_000_000, `${socket.writableLength} bytes wait`);
    assert.equal(isDone, false);
    client.terminate();
    await sending;
  });
});
