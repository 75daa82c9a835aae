import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, it } from 'node:test';
import { wholeMessages } from './whole-messages.js';

function message(content: string): Buffer {
  const bytes = Buffer.from(`D0000${content}`);
  bytes.writeUInt32BE(bytes.length - 1, 1);
  return bytes;
}

/** What a parser gets of the pieces. */
function delivered(pieces: readonly Buffer[]): string[] {
  const source = new EventEmitter();
  const seen: string[] = [];
  wholeMessages(source).on('data', (bytes) => seen.push(bytes.toString('latin1')));
  for (const piece of pieces) source.emit('data', Buffer.from(piece));
  return seen;
}

/** The pieces of these bytes, each of this length. */
function divided(bytes: Buffer, length: number): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += length) pieces.push(bytes.subarray(at, at + length));
  return pieces;
}

describe('whole messages', () => {
  const messages = ['', 'a', 'bc'.repeat(10), 'd'.repeat(100_000), '', 'e'.repeat(3_000)].map(message);
  const all = Buffer.concat(messages);

  it('are delivered in order, however the bytes are divided', () => {
    for (const length of [1, 2, 3, 4, 5, 6, 7, 64, 1_000, 65_536, all.length]) {
      const seen = delivered(divided(all, length));
      assert.equal(seen.join(''), all.toString('latin1'), `in pieces of ${length}`);
      const ends = new Set(messages.map((_, i) => Buffer.concat(messages.slice(0, i + 1)).length));
      let at = 0;
      for (const bytes of seen) {
        at += bytes.length;
        assert.ok(ends.has(at), `in pieces of ${length}, an end at ${at}`);
      }
    }
  });

  it('of which several arrive in one piece are delivered as they came', () => {
    assert.deepEqual(delivered([all]), [all.toString('latin1')]);
  });

  it('leave no memory behind when they are long', () => {
    const source = new EventEmitter();
    let count = 0;
    wholeMessages(source).on('data', () => count++);
    const long = message('x'.repeat(1_200_000));
    const kept = long.length;
    const before = process.memoryUsage().arrayBuffers;
    for (let i = 0; i < 20; i++) {
      for (const piece of divided(long, 16_384)) {
        const own = Buffer.allocUnsafeSlow(piece.length);
        piece.copy(own);
        source.emit('data', own);
      }
    }
    assert.equal(count, 20);
    assert.ok(process.memoryUsage().arrayBuffers - before < kept, 'less than one message');
  });

  it('are given up when the bytes are not those of a server', () => {
    const strange = Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n');
    assert.deepEqual(delivered([strange, strange]), [strange.toString(), strange.toString()]);
    const short = Buffer.from('D\0\0\0\x03rest');
    assert.deepEqual(delivered([messages[1] as Buffer, short]).at(-1), short.toString('latin1'));
  });
});
