import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { Http2SecureServer } from 'node:http2';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { PacedRequests } from '../../base/machinery/paced-requests.js';
import { acceptWebSockets } from './web-sockets.js';

test('only some of many upgrades begin in a turn, and none whose client has left', async () => {
  const begun: unknown[] = [];
  const server = createServer(() => undefined);
  const paced = PacedRequests.watch(server);
  acceptWebSockets(
    server as unknown as Http2SecureServer,
    (request) => begun.push(request),
    { error: (message: string, fields) => assert.fail(`${message} ${String(fields?.error)}`) },
    undefined,
    (upgrade) => paced.add(upgrade),
  );
  const sockets = Array.from({ length: 100 }, () => new PassThrough());
  for (const socket of sockets) {
    const connection = { getPeerX509Certificate: () => undefined };
    server.emit('upgrade', { headers: {}, method: 'GET', socket: connection }, socket, Buffer.alloc(0));
  }
  assert.ok(begun.length >= 1 && begun.length <= 32, String(begun.length));
  sockets.at(-1)?.destroy();
  while (paced.size > 0) await nextTurn();
  assert.equal(begun.length, 99);
});
