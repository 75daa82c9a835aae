import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { leastCacheBytes, watchCacheBytes } from './watch-cache-bytes.js';

const gib = 2 ** 30;

describe('watchCacheBytes', () => {
  it('is what the flag says', () => {
    assert.equal(watchCacheBytes(8 * gib, 1, 4, { heap: gib, machine: gib }), 8 * gib);
  });

  it('is half of the heap by default', () => {
    assert.equal(watchCacheBytes(undefined, 1, 4, { heap: 4 * gib, machine: 64 * gib }), 2 * gib);
  });

  it('leaves most of the memory to others, whatever the number of workers', () => {
    assert.equal(watchCacheBytes(undefined, 1, 4, { heap: 4 * gib, machine: 4 * gib }), gib);
    assert.equal(watchCacheBytes(undefined, 2, 4, { heap: 4 * gib, machine: 4 * gib }), gib / 2);
    assert.equal(watchCacheBytes(undefined, 0, 4, { heap: 4 * gib, machine: 4 * gib }), gib / 4);
  });

  it('is never nothing', () => {
    assert.equal(watchCacheBytes(undefined, 256, 4, { heap: gib, machine: 2 ** 20 }), leastCacheBytes);
  });
});
