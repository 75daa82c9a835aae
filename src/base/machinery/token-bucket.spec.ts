import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TokenBucket } from './token-bucket.js';

describe('TokenBucket', () => {
  it('gives its burst at once, and then one token at a time', () => {
    const bucket = new TokenBucket(2, 3);
    const taken = [0, 0, 0, 0, 499, 500, 500, 999, 1000].map((now) => bucket.tryTake(now));
    assert.deepEqual(taken, [true, true, true, false, false, true, false, false, true]);
  });

  it('holds no more than its burst, however long nothing is taken', () => {
    const bucket = new TokenBucket(2, 3);
    assert.ok(bucket.tryTake(0));
    assert.equal(bucket.isFull(499), false);
    assert.equal(bucket.isFull(500), true);
    const taken = [1e9, 1e9, 1e9, 1e9].map((now) => bucket.tryTake(now));
    assert.deepEqual(taken, [true, true, true, false]);
  });

  it('lets callers spend more than it holds, each of whom waits for the debt of all', () => {
    const bucket = new TokenBucket(10, 2);
    const waits = [bucket.spend(0), bucket.spend(0), bucket.spend(0), bucket.spend(0, 5), bucket.spend(50)];
    assert.deepEqual(waits, [0, 0, 100, 600, 650]);
    assert.equal(bucket.debtMs(650), 50);
    assert.equal(bucket.debtMs(1000), 0);
    assert.equal(bucket.tryTake(700), false);
    assert.equal(bucket.tryTake(800), true);
  });

  it('with a burst of 0 makes everything but the first caller wait', () => {
    const bucket = new TokenBucket(1000, 0);
    assert.equal(bucket.debtMs(5), 0);
    bucket.spend(5, 100);
    assert.equal(bucket.debtMs(5), 100);
    bucket.spend(200, 1);
    assert.equal(bucket.debtMs(200), 1);
  });
});
