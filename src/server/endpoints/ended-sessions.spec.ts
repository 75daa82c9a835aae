import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectHttp2, createSecureServer, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { test } from 'node:test';
import { connect } from 'node:tls';
import { serverAuth, TestIdentity } from '../../../test/support/test-authority.js';
import { EndedSessions } from './ended-sessions.js';

/** An HTTP/2 frame (RFC 9113 section 4.1). */
function frame(type: number, stream: number, payload: Buffer, flags = 0): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
/** The setting SETTINGS_INITIAL_WINDOW_SIZE, as large as may be. */
const window = Buffer.from([0, 4, 0x7f, 0xff, 0xff, 0xff]);
/** Lets the connection send as much as its streams. */
const mostBytes = Buffer.from([0x40, 0, 0, 0]);
/** The header fields of `GET https://a/`, as HPACK encodes them. */
const getRoot = Buffer.from([0x82, 0x87, 0x84, 0x01, 1, 0x61]);

test('the connection of a session that ended with unsent bytes is closed, and connections in use stay open', async (context) => {
  const root = await TestIdentity.root('root');
  const names = [{ type: 'dns', value: 'localhost' }] as const;
  const { chain, key } = await root.issue({ subject: [{ CN: ['localhost'] }], usages: [serverAuth], names });
  const large = Buffer.alloc(64 * 1024 * 1024);
  const server = createSecureServer({ cert: chain, key }, (request, response) => {
    response.on('error', () => undefined);
    response.end(request.url === '/' ? large : 'small');
  });
  server.on('sessionError', () => undefined);
  new EndedSessions({ closedMs: 20, brokenMs: 20, unsentMs: 20, sweepMs: 10 }).watch(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  context.after(() => server.close());
  const used = connectHttp2(`https://localhost:${port}`, { ca: root.cert });
  const assertServed = async () => {
    const [headers] = (await once(used.request({ ':path': '/small' }), 'response')) as [{ ':status': number }];
    assert.equal(headers[':status'], 200);
  };
  await assertServed();

  const endings = {
    'an error': frame(7, 0, Buffer.from([0, 0, 0, 0, 0, 0, 0, 2])),
    // The stream is reset, and the session is to be closed in order.
    'no error': Buffer.concat([frame(3, 1, Buffer.from([0, 0, 0, 8])), frame(7, 0, Buffer.alloc(8))]),
  };
  for (const ending of Object.values(endings)) {
    const begun = once(server, 'session') as Promise<[ServerHttp2Session]>;
    const connected = once(server, 'secureConnection') as Promise<[Socket]>;
    const broken = connect({ port, host: '127.0.0.1', servername: 'localhost', ca: root.cert, ALPNProtocols: ['h2'] });
    broken.on('error', () => undefined);
    broken.write(Buffer.concat([preface, frame(4, 0, window), frame(8, 0, mostBytes), frame(1, 1, getRoot, 5)]));
    const [[session], [socket]] = await Promise.all([begun, connected]);
    const closed = once(socket, 'close');
    // The server has begun to send more than the connection holds, and its client reads no further.
    await once(broken, 'data');
    broken.pause();
    broken.write(ending);
    await closed;
    assert.ok(session.destroyed || session.closed);
    broken.destroy();
  }

  await assertServed();
  used.destroy();
});
