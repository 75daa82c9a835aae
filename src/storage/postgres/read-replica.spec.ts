import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import pg from 'pg';
import { eventually } from '../../../test/e2e/support/test-cluster.js';
import { takeSnapshot } from '../../../test/support/postgres-snapshot.js';
import { TcpProxy } from '../../../test/support/tcp-proxy.js';
import { startTestPostgres, type TestPostgres, type TestStandby } from '../../../test/support/test-postgres.js';
import { type StorageError } from '../storage-error.js';
import type { StorageKey } from '../storage-key.js';
import { collectUpTo, names, remove } from '../testing/storage-helpers.js';
import { failureKind } from './postgres-errors.js';
import { createPostgresStorage, type PostgresStorage } from './postgres-storage.js';
import { silentObserver } from './postgres-storage-options.js';
import { ReplicaLag } from './replica-lag.js';
import { Session } from './session.js';

const scope = { resource: 'things' };

function thing(name: string): StorageKey {
  return { resource: 'things', namespace: 'n', name };
}

/** Creates the object or overwrites it. */
async function put(storage: PostgresStorage, key: StorageKey, json: string) {
  const result = await storage.guaranteedUpdate(key, { ignoreNotFound: true }, (current) => ({
    kind: 'write',
    json,
    uid: current?.uid ?? 'u',
  }));
  return { object: result.object };
}

describe('storage with a read replica', () => {
  let primary: TestPostgres;
  let standby: TestStandby;
  let databaseUrl: string;
  let writer: PostgresStorage;
  const opened: PostgresStorage[] = [];

  const at = (server: TestPostgres, url = databaseUrl): string => {
    const moved = new URL(url);
    moved.port = String(server.port);
    return moved.href;
  };
  const onStandby = async (sql: string): Promise<void> => {
    const client = new pg.Client({ connectionString: standby.adminUrl });
    await client.connect();
    try {
      await client.query(sql);
    } finally {
      await client.end();
    }
  };

  /** A store that reads from the replica, and what it reports. */
  async function reading(readDatabaseUrl = at(standby), replicaPatienceMs = 1_000) {
    const seen = { replica: 0, primary: 0, lagMs: 0, states: [] as string[] };
    const storage = await createPostgresStorage({
      databaseUrl,
      readDatabaseUrl,
      replicaPatienceMs,
      notifyPollMs: 200,
      observer: {
        ...silentObserver,
        replicaRead: (by) => {
          seen[by]++;
        },
        replicaLag: (lagMs) => {
          seen.lagMs = Math.max(seen.lagMs, lagMs);
        },
        replicaUsed: (isUsed, reason) => seen.states.push(isUsed ? 'used' : `avoided: ${reason}`),
      },
    });
    opened.push(storage);
    return { storage, seen };
  }

  before(async () => {
    primary = await startTestPostgres({ settings: { wal_keep_size: '64MB' } });
    standby = await primary.createStandby();
    databaseUrl = await primary.createTestDatabase();
    await standby.caughtUp();
    writer = await createPostgresStorage({ databaseUrl });
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((storage) => storage.stop()));
  });
  after(async () => {
    await writer.stop();
    await primary.stop();
    await standby.stop();
  });

  it('gets every change and list from the replica, and the primary is not read', async () => {
    const { storage, seen } = await reading(at(standby), 30_000);
    const from = await storage.head();
    const subscription = await storage.watch(scope, from);
    const expected: string[] = [];
    let newest = from;
    for (let i = 0; i < 25; i++) {
      const name = `a${i % 7}`;
      // Both processes write, so own batches and those of others alternate.
      const result = await put(i % 3 === 0 ? storage : writer, thing(name), `{"i":${i}}`);
      newest = result.object.resourceVersion;
      expected.push(`${name} ${newest}`);
      const { items, resourceVersion } = await storage.list(scope);
      assert.ok(resourceVersion >= newest, 'a list without a version is the newest');
      assert.equal(items.find((item) => item.key.name === name)?.resourceVersion, newest);
    }
    const changes = await collectUpTo(subscription, newest);
    assert.deepEqual(
      changes.map(({ key, resourceVersion }) => `${key.name} ${resourceVersion}`),
      expected,
    );
    assert.ok(seen.replica >= 25, String(seen.replica));
    assert.equal(seen.primary, 0);
    assert.deepEqual(seen.states, []);
    // The past, and pages of one version.
    const late = await storage.watch(scope, from);
    assert.equal((await collectUpTo(late, newest)).length, expected.length);
    const page = await storage.list({ ...scope, limit: 3, countRemaining: true });
    assert.deepEqual([page.items.length, page.more, page.remaining], [3, true, 4]);
    await remove(writer, thing('a5'));
    const rest = await storage.list({ ...scope, limit: 9, at: page.resourceVersion, after: page.items[2]?.key });
    assert.deepEqual(names(rest.items), ['n/a3', 'n/a4', 'n/a5', 'n/a6']);
    assert.equal(seen.primary, 0);
  });

  it('waits for a replica that lags a little, and reads the primary when it lags for long', async () => {
    const patient = await reading(at(standby), 30_000);
    await onStandby('select pg_wal_replay_pause()');
    const first = (await put(writer, thing('b1'), '{}')).object.resourceVersion;
    const listed = patient.storage.list(scope);
    await onStandby('select pg_wal_replay_resume()');
    assert.ok((await listed).items.some(({ resourceVersion }) => resourceVersion === first));
    assert.deepEqual([patient.seen.primary, patient.seen.states], [0, []]);

    const { storage, seen } = await reading();
    const subscription = await storage.watch(scope, await storage.head());
    await onStandby('select pg_wal_replay_pause()');
    const second = (await put(writer, thing('b2'), '{}')).object.resourceVersion;
    assert.equal((await collectUpTo(subscription, second)).length, 1, 'the watch misses nothing');
    assert.ok((await storage.list(scope)).items.some(({ resourceVersion }) => resourceVersion === second));
    assert.equal((await storage.get(thing('b2')))?.resourceVersion, second);
    assert.match(seen.states.at(-1) ?? '', /^avoided: it (lacks version|has nothing after)/);
    assert.ok(seen.primary > 0);
    assert.ok(seen.lagMs > 0);

    await onStandby('select pg_wal_replay_resume()');
    await eventually(() => seen.states.at(-1) === 'used' || put(writer, thing('b3'), '{}').then(() => false), 'again');
    const last = (await put(writer, thing('b4'), '{}')).object.resourceVersion;
    const all = await collectUpTo(subscription, last);
    assert.equal(all.at(-1)?.resourceVersion, last);
  });

  it('reads the primary while no replica answers, and the replica when it is back', async () => {
    const { storage, seen } = await reading();
    const subscription = await storage.watch(scope, await storage.head());
    await standby.shutDown('fast');
    const first = (await put(writer, thing('c1'), '{}')).object.resourceVersion;
    assert.ok((await storage.list(scope)).items.some(({ resourceVersion }) => resourceVersion === first));
    assert.equal((await collectUpTo(subscription, first)).at(-1)?.resourceVersion, first);
    assert.match(seen.states.at(-1) ?? '', /^avoided/);
    await standby.startAgain();
    await eventually(() => seen.states.at(-1) === 'used', 'the replica is read again');
  });

  it('holds nobody up when the replica stands still', async () => {
    const proxy = await TcpProxy.start(standby.port);
    const { storage, seen } = await reading(proxy.through(databaseUrl), 500);
    try {
      const subscription = await storage.watch(scope, await storage.head());
      // On a busy machine, the first answer may take longer than a read waits for it.
      await eventually(async () => {
        const before = seen.replica;
        await storage.list(scope);
        return seen.replica > before && seen.states.at(-1)?.startsWith('avoided') !== true;
      }, 'the replica is read');
      seen.states.length = 0;
      proxy.holdAnswers();
      const version = (await put(writer, thing('s1'), '{}')).object.resourceVersion;
      const began = performance.now();
      // Many more than there are connections: none of them waits for its turn at a replica that does not answer.
      const lists = Array.from({ length: 60 }, () => storage.list(scope));
      const [change] = await collectUpTo(subscription, version);
      assert.equal(change?.resourceVersion, version);
      for (const { items } of await Promise.all(lists)) {
        assert.ok(items.some(({ resourceVersion }) => resourceVersion === version));
      }
      const tookMs = performance.now() - began;
      // The same lists from the primary alone tell how busy the machine is.
      const beganAgain = performance.now();
      await Promise.all(Array.from({ length: 60 }, () => storage.list(scope)));
      const busyMs = performance.now() - beganAgain;
      assert.ok(tookMs < 2_500 + 4 * busyMs, `${tookMs} ms; ${busyMs} ms from the primary`);
      assert.match(seen.states.join(), /^avoided: it has not answered for \d+ ms$/);
      proxy.release();
      await eventually(() => seen.states.at(-1) === 'used', 'the replica is read again');
    } finally {
      await storage.stop();
      await proxy.stop();
    }
  });

  it('is not given up for versions that nobody has committed', async () => {
    const { storage, seen } = await reading(at(standby), 30_000);
    const newest = (await put(storage, thing('v1'), '{}')).object.resourceVersion;
    await storage.list(scope);
    for (const ahead of [1n, 1_000_000_000_000n]) {
      await assert.rejects(
        storage.list({ ...scope, at: newest + ahead, limit: 5 }),
        (error: StorageError) => error.code === 'TooLargeVersion',
      );
    }
    const { resourceVersion } = await storage.list({ ...scope, limit: 1, countRemaining: true });
    assert.equal(resourceVersion, newest);
    assert.deepEqual(seen.states, []);
    assert.ok(seen.lagMs < 30_000, String(seen.lagMs));
  });

  it('keeps away from replicas of other databases', async () => {
    const other = await primary.createTestDatabase();
    await standby.caughtUp();
    const stranger = await reading(at(standby, other), 30_000);
    const version = (await put(writer, thing('d1'), '{}')).object.resourceVersion;
    assert.ok((await stranger.storage.list(scope)).items.some((item) => item.resourceVersion === version));
    assert.deepEqual(stranger.seen.states, ['avoided: the read replica is of another database']);
    const same = await reading(databaseUrl, 30_000);
    assert.ok((await same.storage.list(scope)).items.some((item) => item.resourceVersion === version));
    assert.deepEqual(same.seen.states, ['avoided: the read replica is not a standby']);
  });

  it('repeats a read that replay has cancelled', async () => {
    await onStandby(`alter system set max_standby_streaming_delay = 0`);
    await onStandby('select pg_reload_conf()');
    const session = await Session.open({
      url: at(standby),
      applicationName: 'test',
      connectTimeoutMs: 30_000,
      role: 'replica',
      observer: silentObserver,
    });
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    await client.query('create table plinth.locked (x int)');
    await standby.caughtUp();
    const reading = session.execute('long', 'select pg_sleep(60) from (select count(*) from plinth.locked) x', 60_000);
    const failed = reading.then(
      () => assert.fail('not cancelled'),
      (error: unknown) => error,
    );
    await eventually(async () => {
      const watcher = new pg.Client({ connectionString: standby.adminUrl });
      await watcher.connect();
      const { rows } = await watcher.query(`select from pg_stat_activity where wait_event = 'PgSleep'`);
      await watcher.end();
      return rows.length > 0;
    }, 'the read runs');
    await client.query('drop table plinth.locked');
    await client.end();
    const error = await failed;
    assert.match(String(error), /conflict with recovery/);
    assert.equal(failureKind(error), 'retry');
    await session.close();
  });

  it('shows nothing of a replica that was promoted', async () => {
    const { storage, seen } = await reading(at(standby), 30_000);
    const subscription = await storage.watch(scope, await storage.head());
    const before = (await put(writer, thing('e1'), '{}')).object.resourceVersion;
    await collectUpTo(subscription, before);
    await storage.list(scope);
    await standby.caughtUp();
    await standby.promote();
    const split = await createPostgresStorage({ databaseUrl: at(standby) });
    opened.push(split);
    await put(split, thing('phantom'), '{}');
    const version = (await put(writer, thing('e2'), '{}')).object.resourceVersion;
    const changes = await collectUpTo(subscription, version);
    assert.deepEqual(
      changes.map(({ key }) => key.name),
      ['e2'],
    );
    const listed = names((await storage.list(scope)).items);
    assert.ok(listed.includes('n/e2') && !listed.includes('n/phantom'), listed.join());
    assert.match(seen.states.at(-1) ?? '', /^avoided: .*is not a standby/);
  });
});

describe('a standby of the state before a restore', () => {
  it('is not read for the database that was restored without a fence', async () => {
    const primary = await startTestPostgres({ settings: { wal_keep_size: '64MB' } });
    const standby = await primary.createStandby();
    const databaseUrl = await primary.createTestDatabase();
    const replica = new URL(databaseUrl);
    replica.port = String(standby.port);
    const states: string[] = [];
    const open = (readDatabaseUrl?: string) =>
      createPostgresStorage({
        databaseUrl,
        ...(readDatabaseUrl === undefined ? {} : { readDatabaseUrl }),
        replicaPatienceMs: 30_000,
        notifyPollMs: 200,
        observer: {
          ...silentObserver,
          replicaUsed: (isUsed, reason) => states.push(isUsed ? 'used' : `avoided: ${reason}`),
        },
      });
    try {
      const first = await open();
      await put(first, thing('kept'), '{}');
      await first.stop();
      const restore = await takeSnapshot(primary);
      const old = await open();
      for (let i = 0; i < 5; i++) await put(old, thing(`lost${i}`), '{}');
      await standby.caughtUp();
      await old.stop();
      await restore();

      const reader = await open(replica.href);
      const subscription = await reader.watch(scope, await reader.head());
      const writer = await open();
      let newest = 0n;
      // Each has the version of one that was lost, which the standby still has.
      for (let i = 0; i < 3; i++) newest = (await put(writer, thing(`made${i}`), '{}')).object.resourceVersion;
      const changes = await collectUpTo(subscription, newest);
      const listed = names((await reader.list(scope)).items);
      await Promise.all([reader.stop(), writer.stop()]);
      assert.deepEqual(
        changes.map(({ key }) => key.name),
        ['made0', 'made1', 'made2'],
      );
      assert.deepEqual(listed, ['n/kept', 'n/made0', 'n/made1', 'n/made2']);
      assert.match(states.at(-1) ?? '', /^avoided: the read replica has versions that the database lacks/);
    } finally {
      await standby.stop();
      await primary.stop();
    }
  });
});

describe('the lag of a replica', () => {
  it('is the age of the oldest version that it lacks', () => {
    let now = 0;
    const reports: number[] = [];
    const lag = new ReplicaLag(
      (lagMs) => reports.push(lagMs),
      () => now,
    );
    lag.reached(3n);
    lag.expect(5n);
    now = 10;
    lag.expect(7n);
    now = 30;
    lag.reached(4n);
    lag.reached(5n);
    lag.reached(7n);
    assert.deepEqual(reports, [0, 30, 20, 0]);
  });
});
