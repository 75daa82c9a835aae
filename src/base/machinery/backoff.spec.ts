import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Backoff, pauseAfter } from './backoff.js';

const range = { firstMs: 100, longestMs: 1_000 };

describe('pauses between attempts', () => {
  it('double up to the longest, and begin anew after a success', () => {
    const backoff = new Backoff(range);
    const pauses = Array.from({ length: 6 }, () => backoff.next());
    assert.deepEqual(pauses, [100, 200, 400, 800, 1_000, 1_000]);
    assert.equal(backoff.failures, 6);
    backoff.reset();
    assert.equal(backoff.failures, 0);
    assert.equal(backoff.next(), 100);
  });

  it('are shortened at random by up to half', () => {
    const values = [0, 0.5, 1];
    const backoff = new Backoff(range, () => values.shift() as number);
    assert.deepEqual([backoff.next(), backoff.next(), backoff.next()], [50, 150, 400]);
  });

  it('stay finite after very many failures', () => {
    assert.equal(pauseAfter(5_000, range), 1_000);
    assert.equal(pauseAfter(1, { firstMs: 500, longestMs: 100 }), 100);
  });
});
