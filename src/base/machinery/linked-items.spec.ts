import assert from 'node:assert/strict';
import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { describe, it } from 'node:test';
import { LinkedItems, type ListPlace } from './linked-items.js';

describe('LinkedItems', () => {
  it('keeps the order of those that are left', () => {
    const items = new LinkedItems<number>();
    const places = [1, 2, 3, 4, 5].map((item) => items.add(item));
    for (const at of [0, 2, 4]) items.remove(places[at] as ListPlace<number>);
    assert.deepEqual([...items], [2, 4]);
    items.add(6);
    assert.deepEqual([...items], [2, 4, 6]);
    assert.equal(items.size, 3);
  });

  it('removes nothing twice', () => {
    const items = new LinkedItems<string>();
    const first = items.add('first');
    items.add('second');
    assert.equal(first.item, 'first');
    items.remove(first);
    items.remove(first);
    assert.equal(first.item, undefined);
    assert.deepEqual([...items], ['second']);
    assert.equal(items.size, 1);
  });

  it('does not go on from an item that is removed while it is visited', () => {
    const items = new LinkedItems<string>();
    const first = items.add('first');
    items.add('second');
    assert.throws(() => {
      for (const _ of items) items.remove(first);
    }, /removed while/);
  });

  it('lets what has come and gone be collected with the young objects', async () => {
    const items = new LinkedItems<unknown>();
    const places: ListPlace<unknown>[] = [];
    let full = 0;
    const observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & { detail: { kind: number } })[]) {
        if (entry.detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) full++;
      }
    });
    observer.observe({ entryTypes: ['gc'] });
    // 400 MB are added and removed, 64 items at a time: if removed items were kept, this would cause a dozen full
    // collections.
    for (let i = 0; i < 100_000; i++) {
      places.push(items.add({ values: new Array(500).fill(i) }));
      if (places.length > 64) items.remove(places.shift() as ListPlace<unknown>);
      if (i % 1000 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    observer.disconnect();
    assert.ok(full <= 2, `${full} collections of all objects`);
  });
});
