import assert from 'node:assert/strict';
import { it } from 'node:test';
import { atOnce } from '../../../base/machinery/turns.js';
import { PackedJson } from './packed-json.js';

const long = { list: Array.from({ length: 20_000 }, (_, i) => ({ [`k${i}`]: `ä\u{1f600}${i}` })) };

it('gives back what was packed, short or long', async () => {
  for (const value of [{ a: 1 }, { text: 'ä\u{1f600}'.repeat(5000) }, null, long]) {
    const packed = PackedJson.of(value);
    assert.deepEqual(packed.unpack(), value);
    assert.deepEqual(packed.unpack(), value);
    assert.deepEqual(await PackedJson.of(value).unpackInTurns(), value);
  }
});

it('reads a value once for all who ask at the same time', async () => {
  const packed = PackedJson.of({ a: 1 });
  const value = packed.unpack();
  assert.equal(packed.unpack(), value);
  assert.equal(await packed.unpackInTurns(), value);
});

it('packs long values in steps, and tells their text', () => {
  let text = '';
  const steps = PackedJson.pack(long, (piece) => {
    text += piece;
  });
  let count = 0;
  while (steps.next().done !== true) count++;
  assert.ok(count > 1_000);
  assert.equal(text, JSON.stringify(long));
  assert.equal(PackedJson.of(long).isLong, true);
  assert.equal(PackedJson.of({ a: 1 }).isLong, false);
  assert.deepEqual(atOnce(PackedJson.pack(long)).unpack(), long);
});
