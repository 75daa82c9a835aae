import assert from 'node:assert/strict';
import { it } from 'node:test';
import { PackedJson } from './packed-json.js';

it('gives back what was packed, short or long', () => {
  for (const value of [{ a: 1 }, { text: 'ä\u{1f600}'.repeat(5000) }, null]) {
    const packed = new PackedJson(value);
    assert.deepEqual(packed.unpack(), value);
    assert.deepEqual(packed.unpack(), value);
  }
});

it('reads a value once for all who ask at the same time', () => {
  const packed = new PackedJson({ a: 1 });
  assert.equal(packed.unpack(), packed.unpack());
});
