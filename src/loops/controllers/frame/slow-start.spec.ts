import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { allOf, slowStart } from './slow-start.js';

describe('slowStart', () => {
  it('calls for every index once, in growing batches', async () => {
    const seen: number[] = [];
    let running = 0;
    const most: number[] = [];
    const outcome = await slowStart(100, async (index) => {
      seen.push(index);
      running += 1;
      most.push(running);
      await setImmediate();
      running -= 1;
    });
    assert.deepEqual(outcome, { done: 100 });
    assert.deepEqual(
      seen,
      Array.from({ length: 100 }, (_, i) => i),
    );
    assert.deepEqual(most.slice(0, 7), [1, 1, 2, 1, 2, 3, 4]);
    assert.equal(Math.max(...most), 16);
  });

  it('ends after the first batch with a failure and counts what worked', async () => {
    const seen: number[] = [];
    const outcome = await slowStart(100, async (index) => {
      seen.push(index);
      if (index === 4) throw new Error('full');
    });
    assert.deepEqual(seen, [0, 1, 2, 3, 4, 5, 6]);
    assert.equal(outcome.done, 6);
    assert.equal(String(outcome.error), 'Error: full');
  });

  it('does nothing for nothing', async () => {
    assert.deepEqual(await slowStart(0, () => assert.fail()), { done: 0 });
  });
});

describe('allOf', () => {
  it('goes on after a failure and tells the first one', async () => {
    const outcome = await allOf([1, 2, 3], async (item) => {
      if (item < 3) throw new Error(`not ${item}`);
    });
    assert.equal(outcome.done, 1);
    assert.equal(String(outcome.error), 'Error: not 1');
  });
});
