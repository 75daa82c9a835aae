import assert from 'node:assert/strict';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { it } from 'node:test';
import { followPieces } from './body-pieces.js';

/** Sends like a connection: it stops where a push returns false, and goes on when it is asked to. */
class Sender extends Readable {
  private isSending = false;

  constructor(private left: number) {
    super({ highWaterMark: 65_536 });
  }

  override _read(): void {
    if (this.isSending) return;
    this.isSending = true;
    setImmediate(() => this.send());
  }

  private send(): void {
    while (this.isSending) {
      if (this.left === 0) {
        this.push(null);
        return;
      }
      this.left -= 1;
      this.isSending = this.push(Buffer.alloc(1024, 'x'));
    }
  }
}

it('a body of many pieces reaches a reader that is always behind, whole', { timeout: 120_000 }, async () => {
  const body = new Sender(3_000);
  let arrived = 0;
  followPieces(body, (bytes) => {
    arrived += bytes;
  });
  let read = 0;
  const reader = new Writable({
    highWaterMark: 4096,
    write: (piece: Buffer, _encoding, done) => {
      read += piece.length;
      setImmediate(done);
    },
  });
  await pipeline(body, reader);
  assert.deepEqual([arrived, read], [3_000 * 1024, 3_000 * 1024]);
});

it('small pieces that wait for a reader are put together', { timeout: 120_000 }, async () => {
  const body = new Readable({ highWaterMark: 65_536, read: () => undefined });
  followPieces(body, () => undefined);
  for (let i = 0; i < 1_000; i++) body.push(Buffer.from('x'));
  body.push(null);
  await new Promise(setImmediate);
  const pieces = await body.toArray();
  assert.equal(Buffer.concat(pieces).length, 1_000);
  assert.ok(pieces.length < 600, `${pieces.length} pieces`);
});
