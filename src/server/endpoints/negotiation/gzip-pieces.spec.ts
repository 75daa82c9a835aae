import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { constants, crc32, deflateRawSync, gunzipSync } from 'node:zlib';
import { checksumShift, GzipPieces, type PackedBytes } from './gzip-pieces.js';

function packed(plain: Buffer): PackedBytes {
  const source = deflateRawSync(plain, { finishFlush: constants.Z_SYNC_FLUSH });
  const blocks = { source, start: 0, end: source.length };
  return { blocks, length: plain.length, checksum: crc32(plain), shift: checksumShift(plain.length) };
}

/** Text that repeats itself, of a length. */
const text = (seed: string, length: number) =>
  Buffer.from(`${seed} and ${seed.length} `.repeat(length).slice(0, length));

const cases: readonly (readonly [what: string, parts: readonly (readonly ['stored' | 'packed', Buffer])[]])[] = [
  ['nothing', []],
  ['one packed part', [['packed', text('a', 100_000)]]],
  ['one stored part', [['stored', text('b', 3)]]],
  [
    'an empty part',
    [
      ['stored', Buffer.alloc(0)],
      ['packed', Buffer.alloc(0)],
    ],
  ],
  ['a stored part longer than a block', [['stored', text('c', 200_001)]]],
  [
    'parts of many lengths, stored and packed',
    [1, 2, 3, 7, 64, 255, 65_535, 65_536, 131_073].flatMap((length) => [
      ['packed', text(`p${length}`, length)] as const,
      ['stored', text(`s${length}`, Math.ceil(length / 3))] as const,
    ]),
  ],
  [
    'a part twice',
    [
      ['packed', text('d', 5_000)],
      ['stored', Buffer.from(',')],
      ['packed', text('d', 5_000)],
    ],
  ],
];

describe('gzip put together of parts', () => {
  for (const [what, parts] of cases) {
    it(`${what}: one member with the right checksum and length`, () => {
      const gzip = new GzipPieces();
      const pieces = [gzip.begin()];
      for (const [how, plain] of parts) pieces.push(how === 'stored' ? gzip.stored(plain) : gzip.packed(packed(plain)));
      pieces.push(gzip.end());
      // Throws when the checksum or the length is wrong.
      assert.deepEqual(gunzipSync(Buffer.concat(pieces)), Buffer.concat(parts.map(([, plain]) => plain)));
    });
  }

  it('has the checksum of joined texts, whatever their lengths', () => {
    for (const length of [0, 1, 31, 32, 33, 1_000, 65_537, 1_000_003]) {
      const [first, second] = [text('first', 12_345), text('second', length)];
      const gzip = new GzipPieces();
      gzip.stored(first);
      gzip.packed(packed(second));
      assert.equal(gzip.end().readUInt32LE(2), crc32(Buffer.concat([first, second])), String(length));
    }
  });
});
