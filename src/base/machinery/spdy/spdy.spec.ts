import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { constants, deflateSync } from 'node:zlib';
import { spdyDictionary } from './dictionary.js';
import { SpdyError } from './spdy-error.js';
import { dataHead, openFrame, pingFrame, replyFrame, resetFrame, type SpdyEvent, SpdyReader } from './spdy-frames.js';
import { SpdyHeaderReader } from './spdy-header-reader.js';
import { SpdyHeaderWriter } from './spdy-header-writer.js';

function adler32(bytes: Buffer): number {
  let [a, b] = [1, 0];
  for (const byte of bytes) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  return ((b << 16) | a) >>> 0;
}

function readAll(bytes: Buffer, step: number): SpdyEvent[] {
  const reader = new SpdyReader();
  const events: SpdyEvent[] = [];
  for (let at = 0; at < bytes.length; at += step) events.push(...reader.read(bytes.subarray(at, at + step)));
  return events;
}

describe('SPDY', () => {
  it('has the dictionary that all readers know', () => {
    assert.equal(spdyDictionary.length, 1423);
    assert.equal(adler32(spdyDictionary), 0xe3c6a7c2);
  });

  it('reads headers that it wrote, and compressed ones', async () => {
    const writer = new SpdyHeaderWriter();
    const reader = new SpdyHeaderReader();
    const all: Record<string, string>[] = [{ streamtype: 'stdin' }, {}, { port: '80', requestid: '1' }];
    for (const headers of all) {
      assert.deepEqual(Object.fromEntries(await reader.read(writer.write(headers))), headers);
    }
    reader.stop();
    const body = Buffer.from('\0\0\0\x01\0\0\0\x0astreamtype\0\0\0\x06stdout', 'latin1');
    const compressed = deflateSync(body, { dictionary: spdyDictionary, finishFlush: constants.Z_SYNC_FLUSH });
    const other = new SpdyHeaderReader();
    assert.equal((await other.read(compressed)).get('streamtype'), 'stdout');
    await assert.rejects(other.read(Buffer.from('garbage')), SpdyError);
    other.stop();
  });

  it('refuses headers that unpack to megabytes', async () => {
    const bomb = deflateSync(Buffer.alloc(4_000_000), { finishFlush: constants.Z_SYNC_FLUSH });
    const reader = new SpdyHeaderReader();
    await assert.rejects(reader.read(bomb), /too long/);
    reader.stop();
  });

  it('reads frames however they are cut', () => {
    const bytes = Buffer.concat([
      openFrame(1, Buffer.from('abc')),
      dataHead(1, 5, false),
      Buffer.from('hello'),
      pingFrame(7),
      dataHead(1, 0, true),
      replyFrame(3, Buffer.alloc(0)),
      resetFrame(3),
    ]);
    for (const step of [1, 2, 3, 7, 1000]) {
      const events = readAll(bytes, step);
      const text = events.flatMap((event) => (event.type === 'data' ? [event.bytes.toString()] : [])).join('');
      assert.equal(text, 'hello');
      assert.deepEqual(
        events.filter(({ type }) => type !== 'data').map((event) => ({ ...event })),
        [
          { type: 'open', stream: 1, headers: Buffer.from('abc'), isLast: false },
          { type: 'ping', id: 7 },
          { type: 'reply', stream: 3, isLast: false },
          { type: 'reset', stream: 3 },
        ],
      );
      const ends = events.filter((event) => event.type === 'data' && event.isLast);
      assert.equal(ends.length, 1);
    }
  });

  it('refuses other versions and frames that are too long or too short', () => {
    assert.throws(
      () => readAll(Buffer.from('HTTP/1.1 400 Bad Request\r\n'.replace('H', '\u00c8'), 'latin1'), 100),
      SpdyError,
    );
    const long = openFrame(1, Buffer.alloc(0));
    long.writeUIntBE(0x20000, 5, 3);
    assert.throws(() => readAll(long, 100), /too long/);
    assert.throws(() => readAll(Buffer.from([0x80, 3, 0, 6, 0, 0, 0, 0]), 100), /too short/);
  });
});
