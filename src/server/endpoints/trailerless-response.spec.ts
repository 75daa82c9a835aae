import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerOptions } from 'node:http2';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { after, describe, it } from 'node:test';
import { TrailerlessResponse } from './trailerless-response.js';

/** Types and flags of frames, and the fields of `GET http://a/` (RFC 9113, RFC 7541). */
const data = 0;
const headers = 1;
const settings = 4;
const endStream = 1;
const endHeaders = 4;
const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const getRoot = Buffer.from([0x82, 0x86, 0x84, 0x01, 1, 0x61]);
const headRoot = Buffer.from([0x02, 4, ...Buffer.from('HEAD'), 0x86, 0x84, 0x01, 1, 0x61]);

interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly length: number;
}

function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** The frames of stream 1, up to the one that ends it. */
async function framesOf(socket: Socket): Promise<readonly Frame[]> {
  const frames: Frame[] = [];
  let kept = Buffer.alloc(0);
  for await (const chunk of socket) {
    kept = Buffer.concat([kept, chunk]);
    while (kept.length >= 9 && kept.length >= 9 + kept.readUIntBE(0, 3)) {
      const length = kept.readUIntBE(0, 3);
      const next = { type: kept.readUInt8(3), flags: kept.readUInt8(4), stream: kept.readUInt32BE(5), length };
      kept = kept.subarray(9 + length);
      if (next.stream === 1) frames.push(next);
      if (next.stream === 1 && (next.flags & endStream) !== 0) return frames;
    }
  }
  return frames;
}

describe('TrailerlessResponse', async () => {
  const options: ServerOptions = { Http2ServerResponse: TrailerlessResponse };
  const ended: string[] = [];
  const server = createServer(options, (_request, response) => {
    response.on('finish', () => ended.push('finish')).on('close', () => ended.push('close'));
    handle(response as unknown as TrailerlessResponse);
  });
  let handle: (response: TrailerlessResponse) => void;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => server.close());

  const ask = async (fields: Buffer, answer: (response: TrailerlessResponse) => void) => {
    handle = answer;
    ended.length = 0;
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write(Buffer.concat([preface, frame(settings, 0, 0), frame(headers, endStream | endHeaders, 1, fields)]));
    const frames = await framesOf(socket);
    socket.destroy();
    return frames.map(({ type, flags, length }) => ({ type, ends: (flags & endStream) !== 0, length }));
  };

  it('ends the stream with the last frame of the body', async () => {
    const [head, ...rest] = await ask(getRoot, (response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      response.end('a body');
    });
    assert.deepEqual([head?.type, head?.ends], [headers, false]);
    assert.deepEqual(rest, [{ type: data, ends: true, length: 6 }]);
    assert.deepEqual(ended, ['finish', 'close']);
  });

  it('ends the stream of a long body, and of one in pieces', async () => {
    const long = Buffer.alloc(40_000);
    const [, ...frames] = await ask(getRoot, (response) => response.end(long));
    assert.equal(
      frames.reduce((sum, { length }) => sum + length, 0),
      long.length,
    );
    assert.ok(frames.every(({ type, length }) => type === data && length > 0));
    const [, ...pieces] = await ask(getRoot, (response) => {
      response.write('first', () => response.end('last'));
    });
    assert.deepEqual(
      pieces.map(({ ends, length }) => [length, ends]),
      [
        [5, false],
        [4, true],
      ],
    );
  });

  it('sends no frame for a body that is not there', async () => {
    const headed = await ask(headRoot, (response) => response.writeHead(200, { 'content-length': 5 }).end());
    const empty = await ask(getRoot, (response) => response.writeHead(204).end());
    for (const frames of [headed, empty])
      assert.deepEqual(
        frames.map(({ type, ends }) => [type, ends]),
        [[headers, true]],
      );
  });
});
