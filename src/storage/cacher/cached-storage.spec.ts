import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Random, testSeeds } from '../../../test/support/random.js';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import { systemTimers } from '../../base/machinery/timers.js';
import { createPostgresStorage } from '../postgres/postgres-storage.js';
import { silentObserver } from '../postgres/postgres-storage-options.js';
import { type StoredObject } from '../storage.interface.js';
import { describeChange, openCached, randomQuery, writeSomething } from '../testing/cached-scene.js';
import { collectUpTo, failsWith, storageContract } from '../testing/storage-contract.js';
import { type CacheOptions } from './cache-options.js';
import { CachedStorage } from './cached-storage.js';

describe('CachedStorage', () => {
  let server: TestPostgres;
  before(async () => {
    server = await startTestPostgres();
  });
  after(async () => server.stop());

  const open = (options?: Partial<CacheOptions>) => openCached(server, options);

  describe('contract', () => {
    storageContract(async () => {
      const { cached, stop } = await open();
      return { storage: cached, stop };
    });
  });

  describe('beside a store without a cache', () => {
    for (const seed of testSeeds('cache and database')) {
      it(`gives the same answers while both write (seed ${seed})`, async () => {
        const { cached, other, reads, stop } = await open({ window: { changes: 60, bytes: 1 << 20 } });
        try {
          const random = new Random(seed);
          const resource = 'things';
          const versions: bigint[] = [(await cached.list({ resource })).resourceVersion];
          const missesBefore = reads.miss;
          for (let step = 0; step < 150; step++) {
            await writeSomething(random, random.pick([cached, other]), other, resource);
            const query = randomQuery(random, resource);
            // The list must include every commit that the other process made before the call.
            const [mine, theirs] = [await cached.list(query), await other.list(query)];
            assert.deepEqual(mine.items.map(plain), theirs.items, JSON.stringify(query));
            assert.equal(mine.remaining, theirs.remaining);
            assert.ok(mine.more || !theirs.more || query.select !== undefined);
            versions.push(mine.resourceVersion);
            const at = random.pick(versions.slice(-40));
            const [past, expected] = [await cached.list({ ...query, at }), await other.list({ ...query, at })];
            assert.deepEqual(past.items.map(plain), expected.items, `at ${at} ${JSON.stringify(query)}`);
            assert.equal(past.remaining, expected.remaining);
            assert.equal(past.resourceVersion, at);
          }
          // Only reads of versions that the window no longer had may have gone to the database.
          assert.ok(reads.hit > 200, `${reads.hit} of ${reads.hit + reads.miss - missesBefore} from memory`);
        } finally {
          await stop();
        }
      });

      it(`resumes watches at any version with the same changes (seed ${seed})`, async () => {
        const { cached, other, stop } = await open({ window: { changes: 30, bytes: 1 << 20 } });
        try {
          const random = new Random(seed);
          const resource = 'things';
          const versions = [(await cached.list({ resource })).resourceVersion];
          for (let i = 0; i < 80; i++) {
            await writeSomething(random, random.pick([cached, other]), other, resource);
            versions.push(await other.head());
          }
          for (const from of [versions[0] as bigint, ...Array.from({ length: 12 }, () => random.pick(versions))]) {
            const scope = { resource, namespace: random.chance(0.5) ? random.pick(['a', 'b']) : undefined };
            const watches = [await cached.watch(scope, from), await other.watch(scope, from)];
            await writeSomething(random, other, other, resource);
            const head = await other.head();
            const seen: string[][] = [];
            for (const watch of watches) {
              seen.push((await collectUpTo(watch, head)).map(describeChange));
              watch.close();
            }
            assert.deepEqual(seen[0], seen[1], `from ${from}`);
          }
        } finally {
          await stop();
        }
      });
    }

    it('answers any version from memory, and waits for a future one', async () => {
      const { cached, other, stop } = await open({ futureWaitMs: 300 });
      try {
        const resource = 'things';
        const key = { resource, namespace: 'a', name: 'x' };
        await cached.list({ resource });
        const { resourceVersion } = await other.create(key, 'u', '{}');
        const page = await cached.list({ resource, notOlderThan: resourceVersion });
        assert.deepEqual([page.items.length, page.resourceVersion >= resourceVersion], [1, true]);
        assert.equal((await cached.get(key, resourceVersion))?.uid, 'u');
        assert.equal((await cached.list({ resource, notOlderThan: 0n })).items.length, 1);
        const future = (await other.head()) + 1_000n;
        await assert.rejects(cached.list({ resource, notOlderThan: future }), failsWith('TooLargeVersion'));
        await assert.rejects(cached.get(key, future), failsWith('TooLargeVersion'));
      } finally {
        await stop();
      }
    });
  });

  it('answers gets of any version with what this process has just written or read', async () => {
    const { cached, other, stop } = await open();
    try {
      const resource = 'things';
      await cached.list({ resource });
      for (let i = 0; i < 100; i++) {
        const key = { resource, namespace: 'a', name: `x-${i}` };
        const made = await cached.create(key, `u-${i}`, '{}');
        const seen = await cached.get(key, 0n);
        assert.equal(seen?.resourceVersion, made.resourceVersion, `own object ${i}`);
        const theirs = { ...key, namespace: 'b' };
        const { resourceVersion } = await other.create(theirs, `v-${i}`, '{}');
        assert.equal((await cached.get(theirs))?.resourceVersion, resourceVersion);
        assert.equal(
          (await cached.get(theirs, 0n))?.resourceVersion,
          resourceVersion,
          `object ${i} of another process`,
        );
      }
    } finally {
      await stop();
    }
  });

  it('knows how many objects are in a namespace, and in all', async () => {
    const { cached, stop } = await open();
    const objects = (namespace: string) => cached.usage({ resource: 'things', namespace, name: '' }).objects;
    try {
      assert.equal(objects(''), undefined);
      for (const name of ['x', 'y', 'z']) await cached.create({ resource: 'things', namespace: 'a', name }, name, '{}');
      await cached.create({ resource: 'things', namespace: 'b', name: 'x' }, 'u', '{}');
      assert.equal((await cached.list({ resource: 'things' })).items.length, 4);
      assert.deepEqual([objects(''), objects('a'), objects('b'), objects('c')], [4, 3, 1, 0]);
    } finally {
      await stop();
    }
  });

  it('asks once whether the version of a list is readable while its pages follow at once', async () => {
    let elapsed = 0;
    const timers = { ...systemTimers, elapsed: () => elapsed };
    const { cached, inner, other, reads, stop } = await open({ timers });
    let asked = 0;
    const compactRevision = inner.compactRevision.bind(inner);
    inner.compactRevision = () => {
      asked++;
      return compactRevision();
    };
    const resource = 'things';
    try {
      for (const name of ['x', 'y', 'z']) await other.create({ resource, namespace: 'a', name }, name, '{}');
      const first = await cached.list({ resource, limit: 1 });
      const at = first.resourceVersion;
      const next = async () => {
        const { items, more } = await cached.list({ resource, limit: 1, at, after: first.items[0]?.key });
        return [items[0]?.key.name, more];
      };
      await other.create({ resource, namespace: 'a', name: 'xx' }, 'u', '{}');
      for (let i = 0; i < 3; i++) assert.deepEqual(await next(), ['y', true]);
      assert.equal(asked, 0, 'the newest version is readable');
      elapsed += 999;
      await next();
      assert.equal(asked, 0);
      elapsed += 1;
      for (let i = 0; i < 3; i++) assert.deepEqual(await next(), ['y', true]);
      assert.equal(asked, 1, 'uses do not make it readable for longer');
      elapsed += 1_000;
      inner.compactRevision = () => Promise.resolve(at + 1n);
      const misses = reads.miss;
      await next();
      assert.equal(reads.miss, misses + 1, 'what may no longer be readable is the business of the database');
    } finally {
      await stop();
    }
  });

  it('answers pages that continue a list from the cache that is being filled, unless that takes long', async () => {
    let elapsed = 0;
    const timers = { ...systemTimers, elapsed: () => elapsed };
    const fillWaitMs = 60_000;
    for (const [late, counts] of [
      [false, { hit: 1, miss: 1 }],
      [true, { hit: 0, miss: 2 }],
    ] as const) {
      const { cached, inner, other, reads, stop } = await open({ timers, fillWaitMs, partFillWaitMs: 0 });
      const { promise: filled, resolve: fill } = Promise.withResolvers<void>();
      const list = inner.list.bind(inner);
      inner.list = async (query) => {
        if (query.pageBytes !== undefined) await filled;
        return list(query);
      };
      const resource = 'things';
      try {
        for (const name of ['x', 'y']) await other.create({ resource, namespace: 'a', name }, name, '{}');
        const first = await cached.list({ resource, limit: 1 });
        if (late) elapsed += fillWaitMs;
        const next = cached.list({ resource, limit: 1, at: first.resourceVersion, after: first.items[0]?.key });
        if (!late) fill();
        const { items, forms } = await next;
        assert.deepEqual(
          items.map(({ uid }) => uid),
          ['y'],
        );
        assert.equal(forms !== undefined, !late, 'only what is in memory has forms that are kept');
        assert.deepEqual({ hit: reads.hit, miss: reads.miss }, counts);
      } finally {
        fill();
        await stop();
      }
    }
  });

  describe('updates', () => {
    it('start from the object just read or written, and end right when another process was faster', async () => {
      const url = await server.createTestDatabase();
      let reads = 0;
      const observer = {
        ...silentObserver,
        query: (name: string) => {
          if (name === 'get-objects') reads++;
        },
      };
      const inner = await createPostgresStorage({ databaseUrl: url, observer });
      const other = await createPostgresStorage({ databaseUrl: url });
      const cached = new CachedStorage(inner);
      const key = { resource: 'things', namespace: 'a', name: 'x' };
      const add = (text: string) => (current: StoredObject | undefined) =>
        ({ kind: 'write', uid: 'u', json: JSON.stringify(`${JSON.parse(current?.json ?? '""')}${text}`) }) as const;
      try {
        await cached.create(key, 'u', '"0"');
        await cached.guaranteedUpdate(key, {}, add('1'));
        await cached.guaranteedUpdate(key, {}, add('2'));
        assert.equal(reads, 0);
        await other.guaranteedUpdate(key, {}, add('3'));
        const tried: (string | undefined)[] = [];
        const result = await cached.guaranteedUpdate(key, {}, (current) => {
          tried.push(current?.json);
          return add('4')(current);
        });
        assert.deepEqual(tried, ['"012"', '"0123"']);
        assert.equal(result.object.json, '"01234"');
        assert.equal((await other.get(key))?.json, '"01234"');
        assert.equal(reads, 0, 'a refused write brings what stood in its way');

        await other.guaranteedUpdate(key, {}, (current) => ({ kind: 'delete', json: current?.json ?? '' }));
        await assert.rejects(cached.guaranteedUpdate(key, {}, add('5')), failsWith('KeyNotFound'));
        await cached.create(key, 'u', '"new"');
        await cached.guaranteedUpdate(key, {}, (current) => ({ kind: 'delete', json: current?.json ?? '' }));
        await assert.rejects(cached.guaranteedUpdate(key, {}, add('6')), failsWith('KeyNotFound'));
      } finally {
        await cached.stop();
        await inner.stop();
        await other.stop();
      }
    });
  });
});

function plain({ key, uid, resourceVersion, json }: StoredObject): StoredObject {
  return { key, uid, resourceVersion, json };
}
