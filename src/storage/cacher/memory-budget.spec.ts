import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { HeapBudget } from './heap-budget.js';
import { liveBytes } from './memory-budget.js';

const mib = 2 ** 20;

describe('liveBytes', () => {
  it('leaves memory to requests in small and in large heaps', () => {
    assert.equal(liveBytes(100 * mib), 60 * mib);
    assert.equal(liveBytes(512 * mib), 384 * mib);
    assert.equal(liveBytes(4000 * mib), 3400 * mib);
  });
});

describe('HeapBudget', () => {
  it('shrinks by what the process holds besides caches, and grows when it holds less', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    let cacheBytes = 0;
    let changes = 0;
    const budget = new HeapBudget(
      () => cacheBytes,
      () => {
        changes += 1;
      },
    );
    /** The free memory after a full collection. */
    const most = async () => {
      const before = changes;
      while (changes === before) {
        collect();
        await setImmediate();
      }
      return budget.most;
    };
    try {
      assert.equal(budget.most, liveBytes(getHeapStatistics().heap_size_limit), 'nothing is known yet');
      const empty = await most();
      assert.ok(empty < liveBytes(getHeapStatistics().heap_size_limit));
      // Longer strings would live outside the heap.
      const text = (i: number) => Buffer.alloc(mib / 2, 97 + (i % 26)).toString('latin1');
      let held: string[] | undefined = Array.from({ length: 128 }, (_, i) => text(i));
      const less = await most();
      assert.ok(empty - less > 56 * mib, `${(empty - less) / mib} MiB less`);
      cacheBytes = held.reduce((sum, text) => sum + text.length, 0);
      const shared = await most();
      assert.ok(Math.abs(empty - shared) < 8 * mib, 'what caches hold is theirs');
      cacheBytes = 0;
      held = undefined;
      const again = await most();
      assert.ok(Math.abs(empty - again) < 8 * mib, `${(empty - again) / mib} MiB less`);
    } finally {
      budget.stop();
    }
  });
});
