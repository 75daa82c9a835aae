import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ByteRanges } from './byte-ranges.js';

const joined = (ranges: ByteRanges, from?: number) => Buffer.concat([...ranges.pieces(from)]).toString();

it('puts a body together from ranges and copies', () => {
  const ranges = new ByteRanges();
  const source = Buffer.from('abcdef');
  ranges.copyText(',ä"');
  ranges.add({ source, start: 1, end: 3 });
  ranges.add({ source, start: 3, end: 5 });
  ranges.add({ source, start: 0, end: 0 });
  ranges.copy(Buffer.from('!'));
  assert.equal(ranges.length, 9);
  assert.equal(joined(ranges), ',ä"bcde!');
  assert.equal(joined(ranges, 1), 'ä"bcde!');
  assert.equal(joined(ranges, 5), 'cde!');
  assert.equal(joined(new ByteRanges(), 1), '');
});

it('sends what is long without copying it, and what is short together', () => {
  const ranges = new ByteRanges();
  const source = Buffer.alloc(300_000, 'x');
  let expected = '';
  for (let i = 0; i < 1_000; i++) {
    ranges.copyText(`item ${i} `);
    ranges.add({ source, start: i, end: i + 100 });
    expected += `item ${i} ${'x'.repeat(100)}`;
  }
  ranges.add({ source, start: 0, end: 200_000 });
  ranges.add({ source, start: 200_000, end: 300_000 });
  expected += 'x'.repeat(300_000);
  ranges.copyText('ü'.repeat(50_000));
  expected += 'ü'.repeat(50_000);
  const pieces = [...ranges.pieces()];
  assert.equal(Buffer.concat(pieces).toString(), expected);
  assert.ok(pieces.length < 10, String(pieces.length));
  assert.ok(pieces.some((piece) => piece.buffer === source.buffer && piece.length === 300_000));
  assert.equal(ranges.length, Buffer.byteLength(expected));
});
