import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pooledRandomBytes } from './pooled-random-bytes.js';

test('hands out every byte once, whatever the lengths', () => {
  const seen = new Set<string>();
  for (let n = 0; n < 2000; n++) {
    const bytes = pooledRandomBytes(8 + (n % 7));
    assert.equal(bytes.length, 8 + (n % 7));
    seen.add(bytes.subarray(0, 8).toString('hex'));
  }
  assert.equal(seen.size, 2000);
  assert.equal(new Set(pooledRandomBytes(10_000)).size, 256);
});

test('what was handed out does not change later', () => {
  const first = pooledRandomBytes(16);
  const text = first.toString('hex');
  for (let n = 0; n < 1000; n++) pooledRandomBytes(16).fill(0);
  assert.equal(first.toString('hex'), text);
});
