import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { it } from 'node:test';
import { readBytes } from './read-body.js';

/** A request whose body comes in pieces of 16 KiB, each with memory of its own. */
function request(bytes: number): IncomingMessage {
  function* pieces(): Generator<Buffer> {
    for (let left = bytes; left > 0; left -= 16_384) {
      const piece = Buffer.allocUnsafeSlow(Math.min(left, 16_384));
      piece.fill('x');
      yield piece;
    }
  }
  return Object.assign(Readable.from(pieces(), { objectMode: false }), { headers: {} }) as unknown as IncomingMessage;
}

it('the pieces of a large body leave no memory behind', async () => {
  const bytes = 1_200_000;
  await readBytes(request(bytes), 2 * bytes, undefined);
  const before = process.memoryUsage().arrayBuffers;
  const kept: Buffer[] = [];
  for (let i = 0; i < 10; i++) kept.push(await readBytes(request(bytes), 2 * bytes, undefined));
  const more = process.memoryUsage().arrayBuffers - before;
  assert.ok(kept.every((body) => body.length === bytes && body.at(-1) === 120));
  assert.ok(more < 11 * bytes, `${more} bytes for ten bodies of ${bytes}`);
});
