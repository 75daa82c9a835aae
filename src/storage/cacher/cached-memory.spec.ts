import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import { openCached } from '../testing/cached-scene.js';
import { ManualTimers } from '../testing/manual-timers.js';
import { collectUpTo } from '../testing/storage-contract.js';
import { type CacheOptions, defaultCacheOptions } from './cache-options.js';
import type { OpenMemoryBudget } from './memory-budget.js';

describe('memory of CachedStorage', () => {
  let server: TestPostgres;
  before(async () => {
    server = await startTestPostgres();
  });
  after(async () => server.stop());

  const open = (options?: Partial<CacheOptions>) => openCached(server, options);

  it('is given back when nobody reads a resource for a while', async () => {
    const timers = new ManualTimers();
    const { cached, drops, stop } = await open({ timers, idleMs: 600_000 });
    try {
      const watched = (await cached.list({ resource: 'watched' })).resourceVersion;
      await cached.list({ resource: 'things' });
      const watch = await cached.watch({ resource: 'watched' }, watched);
      assert.deepEqual([...cached.statistics()].map(({ resource }) => resource).sort(), ['things', 'watched']);
      timers.pass(599_000);
      await cached.list({ resource: 'things' });
      timers.pass(10_000);
      assert.deepEqual(drops, []);
      timers.pass(600_000);
      assert.deepEqual(drops, ['things idle']);
      watch.close();
      timers.pass(600_000);
      assert.deepEqual(drops, ['things idle', 'watched idle']);
      assert.deepEqual([...cached.statistics()], []);
    } finally {
      await stop();
    }
  });

  it('keeps forms of objects in a part of the budget, and while somebody lists', async () => {
    const timers = new ManualTimers();
    const { cached, drops, stop } = await open({ timers, maxBytes: 16 * 1024 * 1024, idleMs: 600_000 });
    try {
      const form = {};
      await Promise.all(
        Array.from({ length: 100 }, (_, i) =>
          cached.create({ resource: 'things', namespace: 'a', name: `n${i}` }, 'u', '{}'),
        ),
      );
      const keep = async () => {
        const { items, forms } = await cached.list({ resource: 'things' });
        assert.ok(forms !== undefined);
        for (const item of items) {
          forms.keep(item, form, Buffer.alloc(60_000));
          // The limit is an eighth of the memory for caches.
          assert.ok(cached.formBytes <= 2 * 1024 * 1024);
        }
        const { items: again } = await cached.list({ resource: 'things' });
        const found = again.filter((item) => forms.find(item, form) !== undefined);
        assert.ok(found.length > 10 && found.length < 60, `${found.length} are kept`);
      };
      await keep();
      assert.ok(cached.formBytes > 1024 * 1024);
      timers.pass(599_000);
      assert.ok(cached.formBytes > 0);
      timers.pass(10_000);
      assert.equal(cached.formBytes, 0, 'nobody listed');
      await keep();
      assert.deepEqual(drops, ['things idle']);
    } finally {
      await stop();
    }
  });

  it('stays in its bounds: resources that do not fit are read from the database', async () => {
    const timers = new ManualTimers();
    const { cached, reads, drops, stop } = await open({ timers, maxBytes: 60_000 });
    try {
      const json = JSON.stringify({ filling: 'x'.repeat(1_000) });
      const fill = (resource: string, count: number) =>
        Promise.all(
          Array.from({ length: count }, (_, i) =>
            cached.create({ resource, namespace: 'a', name: `n${i}` }, 'u', json),
          ),
        );
      await fill('small', 20);
      await fill('second', 20);
      await fill('large', 100);
      assert.equal((await cached.list({ resource: 'large' })).items.length, 100);
      assert.deepEqual(drops, ['large budget']);
      assert.deepEqual(reads, { hit: 0, miss: 1 });
      await cached.list({ resource: 'small' });
      timers.pass(1_000);
      await cached.list({ resource: 'second' });
      assert.equal(reads.hit, 2);
      // The two caches together exceed the limit; the one used last stays.
      await fill('third', 20);
      timers.pass(1_000);
      await cached.list({ resource: 'third' });
      assert.deepEqual(drops, ['large budget', 'small budget']);
      const held = [...cached.statistics()];
      assert.deepEqual(held.map(({ resource }) => resource).sort(), ['second', 'third']);
      assert.ok(held.reduce((sum, { bytes }) => sum + bytes, 0) <= 60_000);
    } finally {
      await stop();
    }
  });

  it('gives memory back when the process needs it for something else, and serves the same from the database', async () => {
    const timers = new ManualTimers();
    let most = Number.POSITIVE_INFINITY;
    let held = () => 0;
    let isOver = false;
    let changed = () => {};
    const budget: OpenMemoryBudget = (cacheBytes, onChange) => {
      held = cacheBytes;
      changed = onChange;
      return {
        get most() {
          return most;
        },
        stop: () => {
          isOver = true;
        },
      };
    };
    const { cached, reads, drops, stop } = await open({ timers, budget });
    try {
      const json = JSON.stringify({ filling: 'x'.repeat(1_000) });
      const create = (resource: string, i: number) =>
        cached.create({ resource, namespace: 'a', name: `n${i}` }, 'u', json);
      for (const resource of ['first', 'second']) {
        for (let i = 0; i < 20; i++) await create(resource, i);
        await cached.list({ resource });
        timers.pass(1_000);
      }
      const watch = await cached.watch({ resource: 'second' }, await cached.head());
      assert.ok(held() > 40_000, `${held()}`);
      most = 40_000;
      changed();
      assert.deepEqual(drops, ['first budget']);
      most = 10_000;
      changed();
      assert.deepEqual(drops, ['first budget', 'second budget']);
      assert.equal(held(), 0);
      await create('second', 20);
      const [change] = await collectUpTo(watch, await cached.head());
      assert.equal(change?.key.name, 'n20', 'the watch goes on');
      timers.pass(defaultCacheOptions.idleMs);
      assert.equal((await cached.list({ resource: 'first' })).items.length, 20);
      assert.equal(held(), 0, 'the budget still allows none');
      assert.equal(reads.miss, 1);
      most = 40_000;
      timers.pass(defaultCacheOptions.idleMs);
      assert.equal((await cached.list({ resource: 'first' })).items.length, 20);
      assert.equal(reads.miss, 1, 'memory answers again');
    } finally {
      await stop();
    }
    assert.ok(isOver);
  });
});
