import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BackOff } from './back-off.js';

describe('BackOff', () => {
  it('has no pause at first, doubles up to the longest, and begins anew after a quiet time', () => {
    const backOff = new BackOff(10_000, 300_000);
    assert.equal(backOff.endAfter('a', 0), undefined);
    const pauses = Array.from({ length: 7 }, (_, i) => {
      backOff.next('a', i);
      return backOff.pauseMs('a') / 1000;
    });
    assert.deepEqual(pauses, [10, 20, 40, 80, 160, 300, 300]);
    assert.equal(backOff.endAfter('a', 1000), 301_000);
    assert.equal(backOff.endAfter('a', 601_000), undefined);
    backOff.next('a', 700_000);
    assert.equal(backOff.pauseMs('a'), 10_000);
    backOff.forget('a');
    assert.equal(backOff.endAfter('a', 700_000), undefined);
  });
});
