import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Random } from '../../../test/support/random.js';
import { TcpProxy } from '../../../test/support/tcp-proxy.js';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import { createPostgresStorage } from '../postgres/postgres-storage.js';
import { selects } from '../selection-predicate.js';
import { type Change, type ChangeSubscription, followChanges } from '../storage.interface.js';
import type { StorageKey } from '../storage-key.js';
import { describeChange, openCached, patient, select, source, writeSomething } from '../testing/cached-scene.js';
import { ManualTimers } from '../testing/manual-timers.js';
import { collectUpTo, failsWith, remove } from '../testing/storage-contract.js';
import type { CacheOptions } from './cache-options.js';
import { CachedStorage } from './cached-storage.js';

describe('watches of CachedStorage', () => {
  let server: TestPostgres;
  before(async () => {
    server = await startTestPostgres();
  });
  after(async () => server.stop());

  const open = (options?: Partial<CacheOptions>) => openCached(server, options);

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

  it('find the label by which most select, whoever came first', async () => {
    const { cached, stop } = await open();
    try {
      const resource = 'things';
      const from = (await cached.list({ resource })).resourceVersion;
      const watch = (selector: string, fields = '') =>
        cached.watch({ resource, select: select(selector, fields) }, from);
      const early = await Promise.all(Array.from({ length: 12 }, (_, i) => watch(`early-${i}=x`)));
      const nodes = await Promise.all(Array.from({ length: 20 }, (_, i) => watch('', `spec.node=node-${i}`)));
      const json = '{"labels":{"early-0":"x","early-1":"x","early-11":"x"},"node":"node-3"}';
      const { resourceVersion } = await cached.create({ resource, namespace: 'a', name: 'x' }, 'u', json);
      const heard = async (watches: readonly ChangeSubscription[]) => {
        const got = await Promise.all(watches.map((one) => collectUpTo(one, resourceVersion)));
        return got.flatMap((changes, i) => (changes.length > 0 ? [i] : []));
      };
      assert.deepEqual(await heard(nodes), [3]);
      // Watchers whose label is not among the indexed terms receive changes that they did not select, but none misses a
      // change.
      const got = await heard(early);
      for (const i of [0, 1, 11]) assert.ok(got.includes(i));
      assert.ok(got.length < 12, 'most have their place');
      for (const one of [...early, ...nodes]) one.close();
      assert.equal(cached.backlog.characters, 0);
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
      // Each kind of scope is also tested with too many groups to check all of them.
      const many = Array.from({ length: 10 }, (_, i) => ({ namespace: `n-${i}` }));
      const usual = [{}, { namespace: 'a' }, { name: 'x' }, { namespace: 'a', name: 'x' }];
      const labelled = { namespace: 'a', select: select('app=app-1') };
      for (const further of [[], many]) {
        // The first watcher of a group decides what the group receives, so watchers with the odd scopes are opened
        // first.
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

  it('end when all of them together have not got too much: the slowest of the tenant that holds most', async () => {
    const { cached, stop } = await open({ backlogCharacters: 100_000, window: { changes: 1, bytes: 1 } });
    try {
      const resource = 'things';
      const write = (name: string) =>
        cached.create({ resource, namespace: 'a', name }, 'u', JSON.stringify({ text: 'x'.repeat(20_000) }));
      const from = (await cached.list({ resource })).resourceVersion;
      const greedy = [
        await cached.watch({ resource, owner: 'greedy' }, from),
        await cached.watch({ resource, owner: 'greedy' }, from),
        await cached.watch({ resource, namespace: 'a', owner: 'greedy' }, from),
      ];
      const own = await cached.watch({ resource }, from);
      let middle = from;
      for (let i = 0; i < 3; i++) middle = (await write(`early-${i}`)).resourceVersion;
      const modest = await cached.watch({ resource, owner: 'modest' }, middle);
      const ended = Promise.all(greedy.map((watch) => new Promise<void>((resolve) => watch.onFailure(resolve))));
      assert.equal((await collectUpTo(own, middle)).length, 3);
      for (let i = 0; i < 3; i++) await write(`late-${i}`);
      await ended;
      for (const watch of greedy) await assert.rejects(watch.next(), failsWith('SlowConsumer'));
      const head = await cached.head();
      assert.equal((await collectUpTo(modest, head)).length, 3);
      assert.equal((await collectUpTo(own, head)).length, 3);
      assert.equal(cached.backlog.characters, 0);
      for (const watch of [own, modest]) watch.close();
    } finally {
      await stop();
    }
  });

  it('count nothing twice: many watches that lag together keep what one of them does', async () => {
    const { cached, stop } = await open({ backlogCharacters: 100_000, window: { changes: 1, bytes: 1 } });
    try {
      const resource = 'things';
      const from = (await cached.list({ resource })).resourceVersion;
      const scopes = Array.from({ length: 30 }, (_, i) => ({
        resource,
        owner: 'x',
        ...(i % 2 === 0 && { name: 'a' }),
      }));
      const watches = await Promise.all(scopes.map((scope) => cached.watch(scope, from)));
      const json = JSON.stringify({ text: 'x'.repeat(20_000) });
      for (const namespace of ['b', 'c', 'd', 'e']) await cached.create({ resource, namespace, name: 'a' }, 'u', json);
      const head = await cached.head();
      for (const watch of watches) assert.equal((await collectUpTo(watch, head)).length, 4);
      assert.equal(cached.backlog.characters, 0);
      for (const watch of watches) watch.close();
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
      const created = await createUntil(cached, resource, failed);
      await assert.rejects(slow.next(), failsWith('SlowConsumer'));
      // A watcher that reads its changes is not ended.
      const watch = await cached.watch({ resource }, from);
      assert.equal((await collectUpTo(watch, await cached.head())).length, created);
      watch.close();
    } finally {
      await stop();
    }
  });

  it('get positions promptly when nothing changes, and not more often than configured', async () => {
    const timers = new ManualTimers();
    const { cached, other, stop } = await open({ timers, quietMs: 1_000 });
    try {
      const watch = await cached.watch({ resource: 'idle' }, (await cached.list({ resource: 'idle' })).resourceVersion);
      const write = async (name: string) =>
        (await other.create({ resource: 'busy', namespace: 'a', name }, 'u', '{}')).resourceVersion;
      const position = async () => (await watch.next())?.position ?? 0n;
      // No time passes.
      const first = await write('a');
      let reported = 0n;
      while (reported < first) reported = await position();
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

  it('that are followed receive nothing of what others receive, but know their position when asked', async () => {
    const { cached, stop } = await open({ quietMs: 0 });
    try {
      const resource = 'things';
      const ofNode = (i: number) => ({ resource, select: select('', `spec.node=node-${i}`) });
      const from = (await cached.list(ofNode(0))).resourceVersion;
      const watches = await Promise.all(Array.from({ length: 50 }, (_, i) => cached.watch(ofNode(i), from)));
      const taken = watches.map(() => 0);
      let received = 0;
      watches.forEach((watch, i) => {
        const ended = followChanges(watch, ({ changes }) => {
          taken[i] = (taken[i] as number) + 1;
          if (i === 3) received += changes.length;
          return undefined;
        });
        // A fault of the test ends the storage under its watches.
        ended.catch(() => undefined);
      });
      // Before a watch is followed, it may have received a position.
      await until(() => watches.every(({ quietPosition }) => quietPosition !== undefined));
      taken.fill(0);
      let newest = 0n;
      const write = async (n: number) => {
        const key = { resource, namespace: 'a', name: `n${n}` };
        newest = (await cached.create(key, 'u', '{"labels":{},"node":"node-3"}')).resourceVersion;
      };
      for (let n = 0; n < 20; n++) await write(n);
      const known = () => watches.every(({ quietPosition = 0n }) => quietPosition >= newest);
      await until(known);
      assert.equal(received, 20);
      assert.deepEqual(
        taken.filter((_, i) => i !== 3),
        Array(49).fill(0),
      );
      // A caller that waits for a version is notified when it is reached, with or without changes.
      watches[7]?.hasten?.(newest);
      assert.equal(taken[7], 0, 'it is known to be there already');
      await write(20);
      await until(() => taken[7] === 1);
      watches[7]?.close();
      assert.equal(watches[7]?.quietPosition, undefined);
      for (const watch of watches) watch.close();
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
      // On a busy machine, reconnecting may take longer than a write waits here.
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
        // The next memory check finds too much memory in use. Changes that are queued for the watch must not get lost.
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
        const named = (type: string) => seen.filter((change) => change.type === type).map((change) => change.key.name);
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
      // Listens from the start: the watches may end before the create does.
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
      const created = await createUntil(cached, resource, failed);
      assert.equal((await read(await cached.head())).length, created);
      watch.close();
    } finally {
      await stop();
    }
  });
});

/**
 * Creates objects until the promise resolves, and returns how many. The objects must exceed the content of one buffer:
 * an empty buffer accepts a batch of any size, and several creates form one batch if the process reads them from the
 * log together.
 */
async function createUntil(storage: CachedStorage, resource: string, ended: Promise<void>): Promise<number> {
  let hasEnded = false;
  const noted = ended.finally(() => {
    hasEnded = true;
  });
  let created = 0;
  while (created < 2_000 && !hasEnded) {
    await storage.create({ resource, namespace: 'a', name: `n${created}` }, 'u', '{}');
    created++;
  }
  assert.ok(hasEnded, 'no end after 2000 creates');
  await noted;
  return created;
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}

/** Reads a subscription up to a version with `next`, batch by batch. */
function asking(subscription: ChangeSubscription): (version: bigint) => Promise<Change[]> {
  return (version) => collectUpTo(subscription, version);
}

/** Like {@link asking}, but each batch is pushed as it comes; `slowly`: the consumer needs time for each batch. */
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
    const reached = () => position >= version || (subscription.quietPosition ?? 0n) >= version;
    while (!reached() && !isOver) await new Promise((resolve) => setImmediate(resolve));
    const read = changes;
    changes = [];
    return read;
  };
}
