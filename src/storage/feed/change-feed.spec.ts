import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { inParts } from '../../../test/support/in-parts.js';
import { TcpProxy } from '../../../test/support/tcp-proxy.js';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import { InvariantError } from '../../base/machinery/invariant-error.js';
import { EpochKeeper } from '../postgres/epoch-keeper.js';
import { PostgresChangeLog } from '../postgres/postgres-change-log.js';
import { createPostgresStorage, type PostgresStorage } from '../postgres/postgres-storage.js';
import { resolveOptions, silentObserver } from '../postgres/postgres-storage-options.js';
import { Reader } from '../postgres/reader.js';
import { SessionPool } from '../postgres/session-pool.js';
import type { ChangeSubscription } from '../storage.interface.js';
import type { StorageError } from '../storage-error.js';
import type { StorageKey } from '../storage-key.js';
import { collectUpTo, failsWith, put, remove } from '../testing/storage-contract.js';
import { untilListening } from '../testing/until-listening.js';
import { ChangeFeed, type ChangeFeedOptions, type WakeSource } from './change-feed.js';
import type { ChangeLog } from './change-log.js';

const MINUTE_MS = 60_000;

describe('the change feed', () => {
  let server: TestPostgres;
  before(async () => {
    server = await startTestPostgres();
  });
  after(async () => server.stop());

  const key = (name: string, resource = 'things'): StorageKey => ({ resource, namespace: 'default', name });

  /** A store, and a separate feed over the same database that polls all the time. */
  const openFeed = async (
    settings: Partial<ChangeFeedOptions> = {},
    through: (log: ChangeLog) => ChangeLog = (log) => log,
  ) => {
    const databaseUrl = await server.createTestDatabase();
    const storage = await createPostgresStorage({ databaseUrl });
    const options = resolveOptions({ databaseUrl });
    const pool = new SessionPool(options);
    const epochs = new EpochKeeper(options.observer, (use) => pool.run(use));
    const log = new PostgresChangeLog(pool, new Reader(pool, options.poolSize, epochs), epochs);
    const feed = new ChangeFeed(through(log), { pollMs: 10, observer: silentObserver, ...settings });
    feed.start();
    const close = async () => {
      await feed.stop();
      await pool.stop();
      await storage.stop();
    };
    return { databaseUrl, storage, feed, close };
  };

  it('gives every subscription, wherever it starts, exactly what the log has', async () => {
    const databaseUrl = await server.createTestDatabase();
    const writer = await createPostgresStorage({ databaseUrl });
    const watcher = await createPostgresStorage({ databaseUrl });
    let running = true;
    const load = Promise.all(
      Array.from({ length: 8 }, async (_, client) => {
        for (let i = 0; running; i++) {
          const target = key(`n${client}-${i % 5}`, `kind${i % 3}`);
          if ((await writer.get(target)) === undefined) await writer.create(target, 'u', `${i}`);
          else if (i % 11 === 0) await remove(writer, target);
          else await put(writer, target, `${i}`);
        }
      }),
    );
    const started: { from: bigint; resource: string; subscription: ChangeSubscription }[] = [];
    const origin = await watcher.head();
    for (let i = 0; i < 40; i++) {
      const head = await watcher.head();
      const back = i % 4 === 0 ? 0n : BigInt(i * 7);
      const from = i % 9 === 0 ? origin : head - back > origin ? head - back : origin;
      const resource = `kind${i % 3}`;
      // Every third subscription is closed again, because resources come and go.
      const subscription = await watcher.watch({ resource }, from);
      if (i % 3 === 2 && i < 30) subscription.close();
      else started.push({ from, resource, subscription });
    }
    running = false;
    await load;
    const end = await watcher.head();
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    for (const { from, resource, subscription } of started) {
      const changes = await collectUpTo(subscription, end);
      const { rows } = await client.query<{ v: string; previous: string | null }>(
        `select c.resource_version as v, coalesce(c.previous, b.data)::text as previous
         from plinth.changes c left join plinth.changes b on b.resource_version = c.previous_version
         where c.resource = $1 and c.resource_version > $2 order by c.resource_version`,
        [resource, from],
      );
      assert.deepEqual(
        changes.map((change) => ({ v: String(change.resourceVersion), previous: change.previousJson ?? null })),
        rows,
      );
      subscription.close();
    }
    await client.end();
    await writer.stop();
    await watcher.stop();
  });

  /** Writes two objects at once, and waits for the failure of an earlier subscription. */
  const loseOrder = async ({ storage, feed }: Awaited<ReturnType<typeof openFeed>>, faults: unknown[]) => {
    const from = await storage.head();
    const subscription = await feed.subscribe({ resource: 'things' }, from);
    const creates = ['a', 'b'].map((name) => {
      const write = { op: 'create', key: key(name), uid: 'u', expected: null, json: '1' } as const;
      return { ...write, previousJson: undefined };
    });
    const answers = await storage.writeTogether(creates);
    const changes = creates.map(({ key: of, uid, json }, i) => {
      const answer = answers[i];
      assert.ok(answer?.kind === 'written');
      const { resourceVersion } = answer;
      return { type: 'create', key: of, uid, json, resourceVersion, previousJson: undefined } as const;
    });
    const ended = (async () => {
      for (;;) assert.deepEqual((await subscription.next())?.changes, []);
    })();
    const failed = assert.rejects(ended, (error: StorageError) => {
      assert.ok(failsWith('Expired')(error));
      return error.cause instanceof InvariantError;
    });
    return { from, changes, failed, isReported: () => faults.some((fault) => fault instanceof InvariantError) };
  };

  it('ends every subscription when the log gives changes out of order, before one receives them', async () => {
    const faults: unknown[] = [];
    const observer = {
      ...silentObserver,
      backgroundError: (_where: string, error: unknown) => void faults.push(error),
    };
    const opened = await openFeed({ observer }, (log) => ({
      head: () => log.head(),
      readScope: (after, upto, scope) => log.readScope(after, upto, scope),
      readResources: async (after, resources) => {
        const stretch = await log.readResources(after, resources);
        return { ...stretch, changes: stretch.changes.toReversed() };
      },
    }));
    const { failed, isReported } = await loseOrder(opened, faults);
    await failed;
    assert.ok(isReported());
    await opened.close();
  });

  it('ends every subscription when an own batch is out of order', async () => {
    const faults: unknown[] = [];
    const observer = {
      ...silentObserver,
      backgroundError: (_where: string, error: unknown) => void faults.push(error),
    };
    const opened = await openFeed({ observer, pollMs: MINUTE_MS });
    const { from, changes, failed, isReported } = await loseOrder(opened, faults);
    const newest = changes.at(-1)?.resourceVersion ?? 0n;
    const stretch = { after: from, changes: changes.toReversed() };
    opened.feed.batchEnded({ newest, resources: new Set(['things']), stretch });
    await failed;
    assert.ok(isReported());
    await opened.close();
  });

  it('shares one instance of a change among subscriptions', async () => {
    const storage = await createPostgresStorage({ databaseUrl: await server.createTestDatabase() });
    const from = await storage.head();
    const [a, b] = await Promise.all([
      storage.watch({ resource: 'things' }, from),
      storage.watch({ resource: 'things' }, from),
    ]);
    const { resourceVersion } = await storage.create(key('a'), 'u', '1');
    const [first] = await collectUpTo(a, resourceVersion);
    const [second] = await collectUpTo(b, resourceVersion);
    assert.ok(first !== undefined && first === second);
    await storage.stop();
  });

  it('ends the slowest watch of the tenant that holds most when all together have not got too much', async () => {
    const databaseUrl = await server.createTestDatabase();
    const storage = await createPostgresStorage({ databaseUrl, watchBacklogCharacters: 100_000 });
    try {
      const from = await storage.head();
      const watch = (owner: string | undefined, name?: string) =>
        storage.watch({ resource: 'things', name, owner }, from);
      const greedy = await watch('greedy');
      const modest = await watch('modest', 'n-0');
      const own = await watch(undefined);
      const ended = new Promise<void>((resolve) => greedy.onFailure(resolve));
      const json = JSON.stringify({ text: 'x'.repeat(20_000) });
      let last = from;
      for (let i = 0; i < 6; i++) {
        // An owner whose watch has read most of its changes has a small backlog.
        if (i === 3) assert.equal((await collectUpTo(own, last)).length, 3);
        last = (await storage.create(key(`n-${i}`, 'things'), 'u', json)).resourceVersion;
      }
      await ended;
      await assert.rejects(greedy.next(), { code: 'SlowConsumer' });
      assert.equal((await collectUpTo(modest, last)).length, 1);
      assert.equal((await collectUpTo(own, last)).length, 3);
    } finally {
      await storage.stop();
    }
  });

  it('polls even while this process writes all the time', async () => {
    const databaseUrl = await server.createTestDatabase();
    const proxy = await TcpProxy.start(server.port);
    proxy.cut(true);
    // Notifications do not reach the store.
    const listenDatabaseUrl = proxy.through(databaseUrl);
    const storage = await createPostgresStorage({ databaseUrl, listenDatabaseUrl, notifyPollMs: 200 });
    const other = await createPostgresStorage({ databaseUrl });
    const writing = new AbortController();
    const load = (async () => {
      for (let i = 0; !writing.signal.aborted; i++) await storage.create(key(`q${i}`, 'quiet'), 'u', '1');
    })();
    try {
      const subscription = await storage.watch({ resource: 'listened' }, await other.head());
      const arrived: bigint[] = [];
      for (let i = 0; i < 5; i++) {
        const { resourceVersion } = await other.create(key(`f${i}`, 'listened'), 'u', '1');
        // Ends the writes, and thus the wait, if the poll is starved.
        const timer = setTimeout(() => writing.abort(), 10_000);
        arrived.push(...(await collectUpTo(subscription, resourceVersion)).map((change) => change.resourceVersion));
        clearTimeout(timer);
      }
      assert.equal(arrived.length, 5);
      assert.ok(!writing.signal.aborted, 'changes came only when the writes had ended');
    } finally {
      writing.abort();
      await load;
      await storage.stop();
      await other.stop();
      await proxy.stop();
    }
  });

  it('waits a little for a version that is not committed yet', async () => {
    const { storage, feed, close } = await openFeed({ futureWaitMs: MINUTE_MS });
    const { resourceVersion } = await storage.create(key('a'), 'u', '1');
    const opening = feed.subscribe({ resource: 'things' }, resourceVersion + 2n);
    for (const name of ['b', 'c', 'd']) await storage.create(key(name), 'u', '1');
    const subscription = await opening;
    const changes = await collectUpTo(subscription, resourceVersion + 3n);
    assert.deepEqual(
      changes.map((change) => change.key.name),
      ['d'],
    );
    await close();
  });

  describe('across processes', () => {
    /** The trigger of each read that found changes of others, in order. */
    const findings = () => {
      const sources: WakeSource[] = [];
      const logRead = (changes: number, source: WakeSource) => {
        if (changes > 0) sources.push(source);
      };
      return { sources, observer: { ...silentObserver, logRead } };
    };
    const writeAndFind = async (writer: PostgresStorage, watcher: PostgresStorage, name: string): Promise<void> => {
      const subscription = await watcher.watch({ resource: 'things' }, await watcher.head());
      const { resourceVersion } = await writer.create(key(name), 'u', '1');
      await collectUpTo(subscription, resourceVersion);
      subscription.close();
    };

    it('is woken by notifications, also after their connection was lost', async () => {
      const databaseUrl = await server.createTestDatabase();
      const writer = await createPostgresStorage({ databaseUrl });
      const { sources, observer } = findings();
      const listening = untilListening(observer);
      const options = { databaseUrl, notifyPollMs: MINUTE_MS, applicationName: 'w', observer: listening.observer };
      const watcher = await createPostgresStorage(options);
      await listening.begun;
      await writeAndFind(writer, watcher, 'a');
      const client = new pg.Client({ connectionString: databaseUrl });
      await client.connect();
      const listeners = `from pg_stat_activity where application_name = 'w listener'`;
      const { rowCount } = await client.query(`select pg_terminate_backend(pid) ${listeners}`);
      assert.equal(rowCount, 1);
      // Written while nobody listens, and found on reconnect.
      await writeAndFind(writer, watcher, 'b');
      await writeAndFind(writer, watcher, 'c');
      assert.equal(sources.length, 3);
      assert.ok(!sources.includes('poll'), sources.join());
      await client.end();
      await writer.stop();
      await watcher.stop();
    });

    it('survives meaningless notifications of others', async () => {
      const databaseUrl = await server.createTestDatabase();
      const writer = await createPostgresStorage({ databaseUrl });
      const { sources, observer } = findings();
      const listening = untilListening(observer);
      const options = { databaseUrl, notifyPollMs: MINUTE_MS, observer: listening.observer };
      const watcher = await createPostgresStorage(options);
      await listening.begun;
      const subscription = await watcher.watch({ resource: 'x' }, 1n);
      const client = new pg.Client({ connectionString: databaseUrl });
      await client.connect();
      for (const payload of ['', 'nonsense', '-5', '9223372036854775807']) {
        await client.query(`select pg_notify(channel, $1) from plinth.epoch`, [payload]);
      }
      for (const name of ['a', 'b', 'c']) await writeAndFind(writer, watcher, name);
      assert.ok(!sources.includes('poll'), sources.join());
      subscription.close();
      await client.end();
      await writer.stop();
      await watcher.stop();
    });

    it('finds changes by polling when notifications do not arrive', async () => {
      const databaseUrl = await server.createTestDatabase();
      const proxy = await TcpProxy.start(server.port);
      const writer = await createPostgresStorage({ databaseUrl });
      const { sources, observer } = findings();
      const watcher = await createPostgresStorage({
        databaseUrl,
        listenDatabaseUrl: proxy.through(databaseUrl),
        notifyPollMs: 50,
        observer,
      });
      proxy.cut(true);
      for (const name of ['a', 'b', 'c']) await writeAndFind(writer, watcher, name);
      // The first read of a new subscription may find a change before the poll does.
      assert.equal(sources.length, 3);
      assert.ok(!sources.includes('notify'), sources.join());
      await writer.stop();
      await watcher.stop();
      await proxy.stop();
    });
  });

  describe('with small buffers', () => {
    const open = async () => {
      const slow: string[] = [];
      const observer = { ...silentObserver, slowConsumer: (resource: string) => void slow.push(resource) };
      return { slow, ...(await openFeed({ observer, limits: { changes: 10, characters: 1_000 } })) };
    };

    it('ends only the consumer that falls behind, by count or by size', async () => {
      const { storage, feed, slow, close } = await open();
      try {
        const from = await storage.head();
        const resources = ['many', 'large', 'few'];
        const [many, large, few] = await Promise.all(resources.map((resource) => feed.subscribe({ resource }, from)));
        assert.ok(many !== undefined && large !== undefined && few !== undefined);
        const attentive = await feed.subscribe({ resource: 'many' }, from);
        const seen: string[] = [];
        const reading = (async () => {
          while (seen.length < 30)
            for (const change of (await attentive.next())?.changes ?? []) seen.push(change.key.name);
        })();
        for (let i = 0; i < 30; i++) await storage.create(key(`n${i}`, 'many'), 'u', '1');
        for (let i = 0; i < 3; i++) await storage.create(key(`n${i}`, 'large'), 'u', `"${'x'.repeat(600)}"`);
        for (let i = 0; i < 5; i++) await storage.create(key(`n${i}`, 'few'), 'u', '1');
        await reading;
        assert.equal(seen.length, 30);
        assert.equal((await collectUpTo(few, await storage.head())).length, 5);
        await assert.rejects(many.next(), failsWith('SlowConsumer'));
        await assert.rejects(many.next(), failsWith('SlowConsumer'));
        await assert.rejects(large.next(), failsWith('SlowConsumer'));
        assert.deepEqual(slow.sort(), ['large', 'many']);
      } finally {
        await close();
      }
    });

    it('reads history at the pace of the consumer', async () => {
      const { storage, feed, close } = await open();
      try {
        const from = await storage.head();
        await inParts(5_000, (i) => storage.create(key(`n${i}`), 'u', '1'));
        const head = await storage.head();
        const subscription = await feed.subscribe({ resource: 'things' }, from);
        let batches = 0;
        let changes = 0;
        for (let position = from; position < head; batches++) {
          const batch = await subscription.next();
          assert.ok(batch !== undefined);
          changes += batch.changes.length;
          position = batch.position;
        }
        assert.equal(changes, 5_000);
        assert.ok(batches >= 3, `${batches} batches`);
      } finally {
        await close();
      }
    });
  });

  it('ends watches with Expired when versions went back', async () => {
    const { databaseUrl, storage, feed, close } = await openFeed({ futureWaitMs: MINUTE_MS });
    await storage.create(key('a'), 'u', '1');
    const { resourceVersion } = await storage.create(key('b'), 'u', '1');
    const subscription = await feed.subscribe({ resource: 'things' }, resourceVersion);
    // One subscription waits for a future version: it must fail with the same error, not with `TooLargeVersion`.
    const ahead = assert.rejects(feed.subscribe({ resource: 'things' }, resourceVersion + 100n), failsWith('Expired'));
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    await client.query('delete from plinth.changes where resource_version = $1', [resourceVersion]);
    await client.end();
    await ahead;
    const ended = (async () => {
      for (;;) await subscription.next();
    })();
    await assert.rejects(ended, failsWith('Expired'));
    await close();
  });
});
