import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import { EpochKeeper } from '../postgres/epoch-keeper.js';
import { PostgresChangeLog } from '../postgres/postgres-change-log.js';
import { createPostgresStorage } from '../postgres/postgres-storage.js';
import { resolveOptions, silentObserver } from '../postgres/postgres-storage-options.js';
import { Reader } from '../postgres/reader.js';
import { SessionPool } from '../postgres/session-pool.js';
import type { Change } from '../storage.interface.js';
import type { StorageKey } from '../storage-key.js';
import { collectUpTo } from '../testing/storage-contract.js';
import { untilListening } from '../testing/until-listening.js';
import { ChangeFeed, type OwnBatch, type WakeSource } from './change-feed.js';

const MINUTE_MS = 60_000;

describe('the change feed and own batches', () => {
  let server: TestPostgres;
  before(async () => {
    server = await startTestPostgres();
  });
  after(async () => server.stop());

  const key = (name: string, resource = 'things'): StorageKey => ({ resource, namespace: 'default', name });

  it('reads nothing for own writes without a listener, and misses none for later subscriptions', async () => {
    const databaseUrl = await server.createTestDatabase();
    const storage = await createPostgresStorage({ databaseUrl });
    const options = resolveOptions({ databaseUrl });
    const pool = new SessionPool(options);
    let reads = 0;
    // The test reports batches to the feed itself, so that it controls the order of events.
    const epochs = new EpochKeeper(options.observer, (use) => pool.run(use));
    const reader = new Reader(pool, options.poolSize, epochs);
    const feed = new ChangeFeed(new PostgresChangeLog(pool, reader, epochs), {
      pollMs: MINUTE_MS,
      observer: {
        ...silentObserver,
        logRead: () => {
          reads += 1;
        },
      },
    });
    feed.start();
    try {
      const from = await storage.head();
      const listened = await feed.subscribe({ resource: 'listened' }, from);
      const first = await storage.create(key('a', 'listened'), 'u', '1');
      feed.batchEnded({ newest: first.resourceVersion, resources: new Set(['listened']), stretch: undefined });
      await collectUpTo(listened, first.resourceVersion);
      const before = reads;
      for (let i = 0; i < 20; i++) {
        const { resourceVersion } = await storage.create(key(`q${i}`, 'quiet'), 'u', String(i));
        feed.batchEnded({ newest: resourceVersion, resources: new Set(['quiet']), stretch: undefined });
        feed.wake(resourceVersion, 'notify');
      }
      // Reads that were due before may still finish. The twenty writes must not trigger twenty more.
      assert.ok(reads - before <= 2, `${reads - before} reads`);
      const late = await feed.subscribe({ resource: 'quiet' }, from);
      const last = await storage.create(key('last', 'quiet'), 'u', '20');
      feed.batchEnded({ newest: last.resourceVersion, resources: new Set(['quiet']), stretch: undefined });
      const seen = await collectUpTo(late, last.resourceVersion);
      assert.deepEqual(
        seen.map((change) => change.json),
        Array.from({ length: 21 }, (_, i) => String(i)),
      );
    } finally {
      await feed.stop();
      await pool.stop();
      await storage.stop();
    }
  });

  it('delivers own batches without reading them, and reads when another process wrote in between', async () => {
    const databaseUrl = await server.createTestDatabase();
    const sources: WakeSource[] = [];
    const logRead = (_changes: number, source: WakeSource) => {
      sources.push(source);
    };
    const listening = untilListening({ ...silentObserver, logRead });
    const storage = await createPostgresStorage({
      databaseUrl,
      notifyPollMs: MINUTE_MS,
      observer: listening.observer,
    });
    // The process reads the log once when its listener has connected.
    await listening.begun;
    const other = await createPostgresStorage({ databaseUrl });
    try {
      const start = await storage.create(key('start', 'listened'), 'u', '0');
      const subscription = await storage.watch({ resource: 'listened' }, start.resourceVersion);
      const first = await storage.create(key('first', 'listened'), 'u', '1');
      await collectUpTo(subscription, first.resourceVersion);
      const before = sources.length;
      let json = '1';
      let last = first.resourceVersion;
      for (let i = 2; i < 22; i++) {
        const written = await storage.guaranteedUpdate(key('first', 'listened'), {}, () => ({
          kind: 'write',
          json: String(i),
          uid: 'u',
        }));
        const [change] = await collectUpTo(subscription, written.object.resourceVersion);
        assert.deepEqual(change, {
          type: 'update',
          key: key('first', 'listened'),
          uid: 'u',
          resourceVersion: written.object.resourceVersion,
          json: String(i),
          previousJson: json,
        });
        json = String(i);
        last = written.object.resourceVersion;
      }
      assert.equal(sources.length, before, 'reads of the log');

      const foreign = await other.create(key('foreign', 'listened'), 'u', '22');
      const own = await storage.create(key('own', 'listened'), 'u', '23');
      const both = await collectUpTo(subscription, own.resourceVersion);
      assert.deepEqual(
        both.map(({ resourceVersion }) => resourceVersion),
        [foreign.resourceVersion, own.resourceVersion],
      );
      assert.ok(foreign.resourceVersion > last);
    } finally {
      await storage.stop();
      await other.stop();
    }
  });

  it('reads writes of others after notifications waited for the end of an own batch', async () => {
    const databaseUrl = await server.createTestDatabase();
    const storage = await createPostgresStorage({ databaseUrl });
    const options = resolveOptions({ databaseUrl });
    const pool = new SessionPool(options);
    const epochs = new EpochKeeper(options.observer, (use) => pool.run(use));
    const log = new PostgresChangeLog(pool, new Reader(pool, options.poolSize, epochs), epochs);
    let isWriting = false;
    const feed = new ChangeFeed(log, { pollMs: MINUTE_MS, observer: silentObserver, isWriting: () => isWriting });
    feed.start();
    const own = (newest: bigint, after: bigint): OwnBatch => {
      const change: Change = {
        type: 'create',
        key: key('q', 'quiet'),
        uid: 'u',
        resourceVersion: newest,
        json: '1',
        previousJson: undefined,
      };
      return { newest, resources: new Set(['quiet']), stretch: { after, changes: [change] } };
    };
    try {
      const subscription = await feed.subscribe({ resource: 'listened' }, await storage.head());
      for (let i = 0; i < 6; i++) {
        const foreign = (await storage.create(key(`f${i}`, 'listened'), 'u', '1')).resourceVersion;
        const newest = (await storage.create(key(`q${i}`, 'quiet'), 'u', '1')).resourceVersion;
        // Three cases: both notifications arrive before the response, both between two responses, or only that of the
        // other process arrives.
        isWriting = i % 3 !== 1;
        if (i % 3 === 1) feed.batchEnded(own(newest, foreign));
        feed.wake(foreign, 'notify');
        if (i % 3 !== 2) feed.wake(newest, 'notify');
        isWriting = false;
        if (i % 3 !== 1)
          feed.batchEnded(i < 3 ? own(newest, foreign) : { ...own(newest, foreign), stretch: undefined });
        const timer = setTimeout(() => subscription.close(), 10_000);
        const seen = await collectUpTo(subscription, foreign).catch(() => []);
        clearTimeout(timer);
        assert.equal(seen.length, 1, `the change of the other process, round ${i}`);
      }
    } finally {
      await feed.stop();
      await pool.stop();
      await storage.stop();
    }
  });

  it('goes on without a look at the log through batches whose changes nobody follows, in one piece or several', async () => {
    const databaseUrl = await server.createTestDatabase();
    const storage = await createPostgresStorage({ databaseUrl });
    const options = resolveOptions({ databaseUrl });
    const pool = new SessionPool(options);
    const epochs = new EpochKeeper(options.observer, (use) => pool.run(use));
    const log = new PostgresChangeLog(pool, new Reader(pool, options.poolSize, epochs), epochs);
    let reads = 0;
    const observer = { ...silentObserver, logRead: () => reads++ };
    const feed = new ChangeFeed(log, { pollMs: MINUTE_MS, observer });
    feed.start();
    const resources = new Set(['quiet']);
    const withheld = (after: bigint, newest: bigint): OwnBatch => ({
      newest,
      resources,
      stretch: { after, changes: [], withheld: [...resources] },
    });
    const write = async (name: string, resource: string) =>
      (await storage.create(key(name, resource), 'u', '1')).resourceVersion;
    try {
      const start = await storage.head();
      const subscription = await feed.subscribe({ resource: 'listened' }, start);
      const first = await write('q1', 'quiet');
      feed.batchEnded(withheld(start, first));
      await collectUpTo(subscription, first);
      const atFirst = reads;
      const second = await write('q2', 'quiet');
      feed.batchEnded(withheld(first, second));
      await collectUpTo(subscription, second);
      assert.equal(reads, atFirst);
      // The log has been read up to the middle of a batch that is then reported as a whole.
      const middle = await write('q3', 'quiet');
      feed.wake(middle, 'local');
      await collectUpTo(subscription, middle);
      const last = await write('q4', 'quiet');
      const atMiddle = reads;
      feed.batchEnded(withheld(second, last));
      await collectUpTo(subscription, last);
      assert.equal(reads, atMiddle);
      // A subscription to resources that were left out gets their changes from the log.
      const late = await feed.subscribe({ resource: 'quiet' }, last);
      const missed = await write('q5', 'quiet');
      feed.batchEnded(withheld(last, missed));
      assert.deepEqual(
        (await collectUpTo(late, missed)).map(({ resourceVersion }) => resourceVersion),
        [missed],
      );
    } finally {
      await feed.stop();
      await pool.stop();
      await storage.stop();
    }
  });
});
