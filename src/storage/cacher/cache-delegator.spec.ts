import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Random, testSeeds } from '../../../test/support/random.js';
import { TcpProxy } from '../../../test/support/tcp-proxy.js';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import { parseFieldSelector } from '../../machinery/field-selector.js';
import { parseLabelSelector } from '../../machinery/label-selector.js';
import { createPostgresStorage, type PostgresStorage } from '../postgres/postgres-storage.js';
import { silentObserver } from '../postgres/postgres-storage-options.js';
import { type AttributeSource, selects } from '../selection-predicate.js';
import {
  type Change,
  type ChangeSubscription,
  followChanges,
  type ListQuery,
  type StorageKey,
  type StoredObject,
} from '../storage.interface.js';
import { collectUpTo, failsWith, put, remove, storageContract } from '../testing/storage-contract.js';
import { CachedStorage } from './cache-delegator.js';
import {
  type CacheOptions,
  type CacheTimers,
  type DropReason,
  defaultCacheOptions,
  silentCacheObserver,
} from './cache-options.js';
import type { OpenMemoryRoom } from './memory-room.js';

/** Waits for caches as long as it takes, because the tests are about the cache. */
const patient: Partial<CacheOptions> = { partFillWaitMs: 30_000, fillWaitMs: 30_000, quietMs: 10 };

/** Time that passes when the test says so. */
class ManualTimers implements CacheTimers {
  private time = 0;
  private readonly due = new Map<() => void, number>();

  now(): number {
    return this.time;
  }

  after(ms: number, callback: () => void): () => void {
    const entry = () => callback();
    this.due.set(entry, this.time + ms);
    return () => this.due.delete(entry);
  }

  soon(callback: () => void): void {
    setImmediate(callback);
  }

  pass(ms: number): void {
    this.time += ms;
    for (const [callback, at] of [...this.due]) {
      if (at <= this.time && this.due.delete(callback)) callback();
    }
  }
}

/** Labels and fields of the small objects that the tests write. */
const source: AttributeSource = {
  extract: (json) => {
    const { labels, node } = JSON.parse(json) as { labels?: Record<string, string>; node?: string };
    return { source, labels, fields: { 'spec.node': node ?? '' } };
  },
};

const select = (labels: string, fields = '') => ({
  source,
  labels: parseLabelSelector(labels),
  fields: parseFieldSelector(fields),
});

/** Reads a subscription up to a version, batch by batch. */
function asking(subscription: ChangeSubscription): (version: bigint) => Promise<Change[]> {
  return (version) => collectUpTo(subscription, version);
}

/** The same with all batches given as they come; `slowly`: the consumer needs time for each. */
function following(subscription: ChangeSubscription, slowly: boolean): (version: bigint) => Promise<Change[]> {
  let changes: Change[] = [];
  let position = 0n;
  const ended = followChanges(subscription, (batch) => {
    changes.push(...batch.changes);
    position = batch.position;
    return slowly ? new Promise((resolve) => setImmediate(resolve)) : undefined;
  });
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  ended.then(over, over);
  return async (version) => {
    while (position < version && !isOver) await new Promise((resolve) => setImmediate(resolve));
    const read = changes;
    changes = [];
    return read;
  };
}

describe('CachedStorage', () => {
  let server: TestPostgres;
  before(async () => {
    server = await startTestPostgres();
  });
  after(async () => server.stop());

  /** A cached store, and another process on the same database that has no cache. */
  const open = async (options: Partial<CacheOptions> = {}) => {
    const databaseUrl = await server.createTestDatabase();
    const inner = await createPostgresStorage({ databaseUrl });
    const other = await createPostgresStorage({ databaseUrl });
    const drops: string[] = [];
    const reads = { hit: 0, miss: 0 };
    const cached = new CachedStorage(inner, {
      ...patient,
      ...options,
      observer: {
        ...silentCacheObserver,
        dropped: (resource: string, reason: DropReason) => drops.push(`${resource} ${reason}`),
        read: (_resource: string, fromCache: boolean) => {
          reads[fromCache ? 'hit' : 'miss'] += 1;
        },
      },
    });
    const stop = async () => {
      await cached.stop();
      await Promise.all([inner.stop(), other.stop()]);
    };
    return { cached, inner, other, drops, reads, stop };
  };

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
            // The answer must have every commit of the other process before the call.
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
          // Only versions that the window had lost may have gone to the database.
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

  describe('watches', () => {
    it('share one batch among watchers of a scope', async () => {
      const { cached, stop } = await open();
      try {
        const resource = 'things';
        const from = (await cached.list({ resource })).resourceVersion;
        const watches = [await cached.watch({ resource }, from), await cached.watch({ resource }, from)];
        const pending = watches.map((watch) => watch.next());
        await cached.create({ resource, namespace: 'a', name: 'x' }, 'u', '{}');
        const [one, two] = await Promise.all(pending);
        assert.equal(one?.changes.length, 1);
        assert.equal(one?.changes, two?.changes);
        for (const watch of watches) watch.close();
      } finally {
        await stop();
      }
    });

    it('get the changes that their selections want, and few others, however many there are', async () => {
      const { cached, other, stop } = await open();
      try {
        const resource = 'things';
        const random = new Random(7);
        const selections = [
          ...Array.from({ length: 20 }, (_, i) => select('', `spec.node=node-${i}`)),
          select('', 'spec.node='),
          select('app=app-1'),
          select('app=app-1', 'spec.node=node-1'),
          select('tier=x,app in (app-2)'),
          select('app!=app-1'),
          select('app in (app-1,app-2)'),
        ];
        const from = (await cached.list({ resource, select: selections[0] })).resourceVersion;
        const watches = await Promise.all(
          selections.flatMap((wanted, i) =>
            [undefined, 'a'].map(async (namespace) => {
              const scope = { resource, namespace, select: wanted };
              return { wanted, i, live: await cached.watch(scope, from), all: await other.watch(scope, from) };
            }),
          ),
        );
        for (let i = 0; i < 150; i++) await writeSomething(random, random.pick([cached, other]), other, resource);
        const head = await other.head();
        for (const { wanted, i, live, all } of watches) {
          const wants = ({ type, key, json, previousJson }: Change) =>
            (type !== 'delete' && selects(wanted, source.extract(json), key)) ||
            (type !== 'create' && selects(wanted, source.extract(previousJson ?? json), key));
          const got = await collectUpTo(live, head);
          const expected = (await collectUpTo(all, head)).filter(wants).map(describeChange);
          assert.deepEqual(got.filter(wants).map(describeChange), expected, `selection ${i}`);
          if (i >= 3 && i < 20) assert.equal(got.length, 0, 'a node without objects hears nothing');
          live.close();
          all.close();
        }
        const late = await cached.watch({ resource, select: selections[1] }, from);
        assert.ok((await collectUpTo(late, head)).length > 0);
        late.close();
      } finally {
        await stop();
      }
    });

    it('do not mix: one of a name that no object can have, such as a character code of zero, hears nothing', async () => {
      const { cached, stop } = await open();
      try {
        const resource = 'things';
        const from = (await cached.list({ resource })).resourceVersion;
        const key = { resource, namespace: 'a', name: 'x' };
        const odd: Partial<StorageKey>[] = [
          { namespace: '\u0000' },
          { namespace: '\u0000', name: '\u0000' },
          { namespace: 'a', name: '\u0000' },
          { name: '\u0000' },
          { namespace: 'a', name: '\u0000\u0000label app\u0000app-1' },
          { namespace: 'a/x', name: '' },
          { namespace: '', name: 'a/x' },
        ];
        // Each kind also with too many groups to ask all of them.
        const many = Array.from({ length: 10 }, (_, i) => ({ namespace: `n-${i}` }));
        const usual = [{}, { namespace: 'a' }, { name: 'x' }, { namespace: 'a', name: 'x' }];
        const labelled = { namespace: 'a', select: select('app=app-1') };
        for (const further of [[], many]) {
          // The first watcher of a group says what it gets, so the odd ones come first.
          const oddOnes = await Promise.all(odd.map((scope) => cached.watch({ resource, ...scope }, from)));
          const others = await Promise.all(further.map((scope) => cached.watch({ resource, ...scope }, from)));
          const heard = await Promise.all(
            [...usual, labelled].map((scope) => cached.watch({ resource, ...scope }, from)),
          );
          const made = await cached.create(key, 'u', '{"labels":{"app":"app-1"}}');
          for (const watch of heard) {
            const got = await collectUpTo(watch, made.resourceVersion);
            assert.ok(got.some(({ resourceVersion }) => resourceVersion === made.resourceVersion));
          }
          for (const watch of oddOnes) assert.deepEqual(await collectUpTo(watch, made.resourceVersion), []);
          for (const watch of [...oddOnes, ...others, ...heard]) watch.close();
          await remove(cached, key);
        }
      } finally {
        await stop();
      }
    });

    it('end when the client is too slow, and never skip', async () => {
      const { cached, stop } = await open({ buffer: { changes: 5, characters: 1_000_000 } });
      try {
        const resource = 'things';
        const from = (await cached.list({ resource })).resourceVersion;
        const slow = await cached.watch({ resource }, from);
        const failed = new Promise<void>((resolve) => {
          slow.onFailure(resolve);
        });
        for (let i = 0; i < 20; i++) await cached.create({ resource, namespace: 'a', name: `n${i}` }, 'u', '{}');
        await failed;
        await assert.rejects(slow.next(), failsWith('SlowConsumer'));
        // One that reads goes on.
        const watch = await cached.watch({ resource }, from);
        assert.equal((await collectUpTo(watch, await cached.head())).length, 20);
        watch.close();
      } finally {
        await stop();
      }
    });

    it('get positions promptly when nothing changes, and not more often than configured', async () => {
      const timers = new ManualTimers();
      const { cached, other, stop } = await open({ timers, quietMs: 1_000 });
      try {
        const watch = await cached.watch(
          { resource: 'idle' },
          (await cached.list({ resource: 'idle' })).resourceVersion,
        );
        const write = async (name: string) =>
          (await other.create({ resource: 'busy', namespace: 'a', name }, 'u', '{}')).resourceVersion;
        const position = async () => (await watch.next())?.position ?? 0n;
        // No time passes.
        const first = await write('a');
        let told = 0n;
        while (told < first) told = await position();
        const second = await write('b');
        await cached.list({ resource: 'idle' });
        const next = position();
        assert.equal(await Promise.race([next, cached.head().then(() => 'nothing')]), 'nothing');
        timers.pass(1_000);
        assert.ok((await next) >= second);
        watch.close();
      } finally {
        await stop();
      }
    });

    it('are opened from memory during a database outage, if it holds their version', async () => {
      const proxy = await TcpProxy.start(server.port);
      const databaseUrl = await server.createTestDatabase();
      const inner = await createPostgresStorage({ databaseUrl: proxy.through(databaseUrl), writeWaitMs: 500 });
      const cached = new CachedStorage(inner, { ...patient, window: { changes: 3, bytes: 1 << 20 } });
      try {
        const resource = 'things';
        const key = (i: number) => ({ resource, namespace: 'a', name: `n${i}` });
        await cached.list({ resource });
        const versions: bigint[] = [];
        for (let i = 0; i < 6; i++) versions.push((await cached.create(key(i), 'u', '{}')).resourceVersion);
        const [tooOld, , , , inside, newest] = versions as [bigint, bigint, bigint, bigint, bigint, bigint];
        await cached.list({ resource });
        proxy.cut(true);
        const watch = await cached.watch({ resource }, inside);
        assert.deepEqual(
          (await collectUpTo(watch, newest)).map((change) => change.key.name),
          ['n5'],
        );
        for (const from of [tooOld, newest + 1n]) {
          await assert.rejects(cached.watch({ resource }, from), failsWith('Unavailable'));
        }
        proxy.cut();
        // A busy machine may take longer to connect again than a write waits here.
        const create = () => cached.create(key(6), 'u', '{}').catch(() => undefined);
        let next = await create();
        while (next === undefined) next = await create();
        assert.deepEqual(
          (await collectUpTo(watch, next.resourceVersion)).map((change) => change.key.name),
          ['n6'],
        );
        watch.close();
      } finally {
        await cached.stop();
        await inner.stop();
        await proxy.stop();
      }
    });

    for (const way of ['asked for', 'followed', 'followed slowly'] as const) {
      it(`${way}, go on without gap or double when the cache is dropped under them, and filled again`, async () => {
        const timers = new ManualTimers();
        const { cached, drops, stop } = await open({ timers, maxBytes: 30_000, idleMs: 1_000 });
        try {
          const resource = 'things';
          const key = (i: number) => ({ resource, namespace: 'a', name: `n${i}` });
          const watch = await cached.watch({ resource }, (await cached.list({ resource })).resourceVersion);
          const seen: Change[] = [];
          const reader = way === 'asked for' ? asking(watch) : following(watch, way === 'followed slowly');
          const readOn = async () => seen.push(...(await reader(await cached.head())));
          const watchers = () => [...cached.statistics()].map((cache) => cache.watchers);
          const json = JSON.stringify({ filling: 'x'.repeat(1_000) });
          for (let i = 0; i < 40; i++) await cached.create(key(i), 'u', json);
          await readOn();
          assert.deepEqual(watchers(), [1]);
          for (let i = 40; i < 45; i++) await cached.create(key(i), 'u', json);
          // The next look at the memory finds too much of it used. Changes that wait for the watch must not get lost.
          timers.pass(5_000);
          assert.deepEqual([drops, watchers()], [['things budget'], []]);
          for (let i = 45; i < 50; i++) await cached.create(key(i), 'u', json);
          await readOn();
          for (let i = 0; i < 45; i++) await remove(cached, key(i));
          timers.pass(2_000);
          await cached.list({ resource });
          await readOn();
          await cached.create(key(50), 'u', json);
          await readOn();
          assert.deepEqual(watchers(), [1], 'the watch is served from memory again');
          await cached.create(key(51), 'u', json);
          await readOn();
          watch.close();
          const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `n${from + i}`);
          const named = (type: string) =>
            seen.filter((change) => change.type === type).map((change) => change.key.name);
          assert.deepEqual(named('create'), numbers(0, 52));
          assert.deepEqual(named('delete'), numbers(0, 45));
        } finally {
          await stop();
        }
      });
    }

    it('that are followed end with the fault of their consumer, alone', async () => {
      const { cached, stop } = await open();
      try {
        const resource = 'things';
        const from = (await cached.list({ resource })).resourceVersion;
        const faulty = await cached.watch({ resource }, from);
        const faultyLater = await cached.watch({ resource }, from);
        const closing = await cached.watch({ resource }, from);
        const other = await cached.watch({ resource }, from);
        const fault = new Error('a fault');
        // Listened to from the start: they may end before the create does.
        const ends = Promise.allSettled([
          followChanges(faulty, () => {
            throw fault;
          }),
          followChanges(faultyLater, () => Promise.reject(fault)),
          followChanges(closing, () => closing.close() as undefined),
        ]);
        const read = following(other, false);
        await cached.create({ resource, namespace: 'a', name: 'x' }, 'u', '{}');
        const outcomes = await ends;
        assert.deepEqual(
          outcomes.map(({ status }) => status),
          ['rejected', 'rejected', 'fulfilled'],
        );
        assert.equal((await read(await cached.head())).length, 1);
        await cached.create({ resource, namespace: 'a', name: 'y' }, 'u', '{}');
        assert.equal((await read(await cached.head())).length, 1);
        for (const watch of [faulty, faultyLater, other]) watch.close();
      } finally {
        await stop();
      }
    });

    it('that are followed end when their consumer is too slow, and others do not wait for it', async () => {
      const { cached, stop } = await open({ buffer: { changes: 5, characters: 1_000_000 } });
      try {
        const resource = 'things';
        const from = (await cached.list({ resource })).resourceVersion;
        const slow = await cached.watch({ resource }, from);
        const stuck = followChanges(slow, () => new Promise<void>(() => {}));
        const failed = assert.rejects(stuck, failsWith('SlowConsumer'));
        const watch = await cached.watch({ resource }, from);
        const read = following(watch, false);
        for (let i = 0; i < 20; i++) await cached.create({ resource, namespace: 'a', name: `n${i}` }, 'u', '{}');
        assert.equal((await read(await cached.head())).length, 20);
        await failed;
        watch.close();
      } finally {
        await stop();
      }
    });
  });

  describe('memory', () => {
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

    it('keeps forms of objects in a part of the room, and while somebody lists', async () => {
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
            // An eighth of what there is.
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
        // The two together grow beyond the bound; the one used last stays.
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
      const room: OpenMemoryRoom = (cacheBytes, onChange) => {
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
      const { cached, reads, drops, stop } = await open({ timers, room });
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
        assert.equal(held(), 0, 'there is still no room');
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

  async function writeSomething(
    random: Random,
    writer: CachedStorage | PostgresStorage,
    reader: PostgresStorage,
    resource: string,
  ): Promise<void> {
    const key: StorageKey = { resource, namespace: random.pick(['a', 'b', 'é']), name: `n${random.below(12)}` };
    const json = JSON.stringify({
      labels: random.chance(0.8) ? { app: `app-${random.below(4)}`, tier: random.pick(['x', 'y']) } : undefined,
      node: random.chance(0.5) ? `node-${random.below(3)}` : undefined,
      n: random.below(1_000_000),
    });
    if ((await reader.get(key)) === undefined) await writer.create(key, `uid-${random.below(1_000_000)}`, json);
    else if (random.chance(0.3)) await remove(writer, key);
    else await put(writer, key, json);
  }

  function randomQuery(random: Random, resource: string): ListQuery {
    const selector = random.pick([
      undefined,
      undefined,
      select('app=app-1'),
      select('app in (app-1,app-2),tier=x'),
      select('app!=app-1'),
      select('!app'),
      select('', 'spec.node=node-1'),
      select('tier', 'spec.node!=node-1'),
    ]);
    return {
      resource,
      namespace: random.chance(0.4) ? random.pick(['a', 'b', 'none']) : undefined,
      name: random.chance(0.1) ? 'n3' : undefined,
      after: random.chance(0.3) ? { namespace: random.pick(['a', 'b']), name: 'n4' } : undefined,
      limit: random.chance(0.5) ? 1 + random.below(8) : undefined,
      select: selector,
      countRemaining: selector === undefined && random.chance(0.5),
    };
  }

  const describeChange = ({ type, key, resourceVersion, json, previousJson }: Change): string =>
    `${resourceVersion} ${type} ${key.namespace}/${key.name} ${json} ${previousJson}`;
});

function plain({ key, uid, resourceVersion, json }: StoredObject): StoredObject {
  return { key, uid, resourceVersion, json };
}
