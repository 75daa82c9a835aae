import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import { CachedStorage } from '../cacher/cached-storage.js';
import type { ChangeSubscription } from '../storage.interface.js';
import type { StorageKey } from '../storage-key.js';
import { collectUpTo, failsWith, put } from '../testing/storage-contract.js';
import { EpochKeeper } from './epoch-keeper.js';
import { fence } from './fence.js';
import { createPostgresStorage, type PostgresStorage } from './postgres-storage.js';
import { type EpochChange, silentObserver } from './postgres-storage-options.js';
import { Session } from './session.js';
import { LOG_BOUNDS } from './statements.js';

const key = (name: string): StorageKey => ({ resource: 'things', namespace: 'default', name });
const LEAP = 1_000_000_000n;

describe('the history of the database', () => {
  let server: TestPostgres;
  let databaseUrl: string;
  let client: pg.Client;
  const opened: PostgresStorage[] = [];

  before(async () => {
    server = await startTestPostgres();
  });
  after(async () => server.stop());

  const open = async (changes: EpochChange[] = []): Promise<PostgresStorage> => {
    const storage = await createPostgresStorage({
      databaseUrl,
      // A listener would check the epoch by itself. Without one, a process checks it only when a test makes it.
      listenDatabaseUrl: 'postgres://127.0.0.1:1/none',
      retentionIntervalMs: 0,
      observer: { ...silentObserver, epoch: (change) => changes.push(change) },
    });
    opened.push(storage);
    return storage;
  };
  /** The number of missing versions: only the first check that notices a loss counts them. */
  const missing = (changes: readonly EpochChange[]): bigint =>
    changes.reduce((sum, change) => sum + change.missing, 0n);
  const session = (): Promise<Session> =>
    Session.open({
      url: databaseUrl,
      applicationName: 'test',
      connectTimeoutMs: 30_000,
      role: 'reader',
      observer: silentObserver,
    });
  const fresh = async (): Promise<void> => {
    databaseUrl = await server.createTestDatabase();
    client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
  };
  const close = async (): Promise<void> => {
    for (const storage of opened.splice(0)) await storage.stop();
    await client.end();
  };
  /** Removes what a lagging standby would lack: everything newer than `version`. */
  const lose = async (version: bigint): Promise<void> => {
    await client.query('begin');
    await client.query('delete from plinth.objects where resource_version > $1', [version]);
    await client.query('delete from plinth.changes where resource_version > $1', [version]);
    await client.query(`select setval('plinth.resource_version', $1)`, [version]);
    await client.query('commit');
  };
  /** Makes the server look as if it had been promoted since the last check. */
  const promoted = () => client.query('update plinth.epoch set timeline = timeline + 1');
  const cutWriters = () =>
    client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name = 'plinth writer'`,
    );
  const ended = async (subscription: ChangeSubscription): Promise<void> => {
    for (;;) await subscription.next();
  };

  it('is put on record by the first process, and stays the same for the next ones', async () => {
    await fresh();
    const changes: EpochChange[] = [];
    const first = await open(changes);
    const second = await open(changes);
    assert.equal(first.epoch?.epoch, 1n);
    assert.equal(first.epoch?.timeline, 1);
    assert.match(first.epoch?.systemIdentifier ?? '', /^\d+$/);
    assert.deepEqual(second.epoch, first.epoch);
    assert.deepEqual(
      changes.map((change) => change.action),
      ['same', 'same'],
    );
    assert.ok((await first.create(key('a'), 'u', '1')).resourceVersion < 10n);
    await close();
  });

  it('starts a new epoch after a gap when versions are gone that this process handed out', async () => {
    await fresh();
    const changes: EpochChange[] = [];
    const storage = await open(changes);
    const kept = await storage.create(key('kept'), 'u', '1');
    const watch = await storage.watch({ resource: 'things' }, kept.resourceVersion);
    const lost = await storage.create(key('lost'), 'u', '1');
    await collectUpTo(watch, lost.resourceVersion);
    await lose(kept.resourceVersion);
    await cutWriters();
    const next = await storage.create(key('next'), 'u', '1');
    assert.ok(next.resourceVersion > lost.resourceVersion + LEAP);
    assert.equal(storage.epoch?.epoch, 2n);
    await assert.rejects(ended(watch), failsWith('Expired'));
    for (const version of [kept.resourceVersion, lost.resourceVersion, lost.resourceVersion + 5n]) {
      await assert.rejects(storage.watch({ resource: 'things' }, version), failsWith('Expired'));
      await assert.rejects(storage.list({ resource: 'things', at: version }), failsWith('Expired'));
    }
    const page = await storage.list({ resource: 'things' });
    assert.deepEqual(
      page.items.map((item) => item.key.name),
      ['kept', 'next'],
    );
    const reset = changes.find((change) => change.action === 'reset');
    assert.equal(reset?.seen, lost.resourceVersion);
    assert.equal(missing(changes), lost.resourceVersion - kept.resourceVersion);
    const { rows } = await client.query('select epoch, action, reason from plinth.epoch_changes');
    assert.deepEqual(rows, [{ epoch: '2', action: 'reset', reason: 'versions are missing' }]);
    const { rowCount } = await client.query('select from plinth.change_partitions');
    assert.ok((rowCount ?? 0) < 20, 'a gap needs no partitions');
    await close();
  });

  it('is noticed by a read alone', async () => {
    await fresh();
    const storage = await open();
    const kept = await storage.create(key('kept'), 'u', '1');
    await storage.create(key('lost'), 'u', '1');
    await lose(kept.resourceVersion);
    const page = await storage.list({ resource: 'things' });
    assert.ok(page.resourceVersion > LEAP);
    assert.equal(storage.epoch?.epoch, 2n);
    await close();
  });

  it('is checked by a writer that was moved to a database that others went on with', async () => {
    await fresh();
    const changes: EpochChange[] = [];
    const knowing = await open(changes);
    const kept = await knowing.create(key('kept'), 'u', '1');
    const lost = await knowing.create(key('lost'), 'u', '1');
    await lose(kept.resourceVersion);
    await promoted();
    // This process jumps to higher versions, because it does not know that any are missing. The connections of
    // `knowing` never break.
    await open();
    assert.equal(knowing.lostVersions(), undefined);
    const next = await knowing.create(key('next'), 'u', '1');
    assert.ok(next.resourceVersion > lost.resourceVersion + LEAP);
    await assert.rejects(knowing.watch({ resource: 'things' }, lost.resourceVersion), failsWith('Expired'));
    const reset = changes.find((change) => change.action === 'reset');
    assert.equal(reset?.seen, lost.resourceVersion);
    assert.equal(missing(changes), lost.resourceVersion - kept.resourceVersion);
    assert.equal(knowing.epoch?.epoch, 2n);
    await close();
  });

  it('reports to a moved writer that had seen no more which versions must not come from memory', async () => {
    await fresh();
    const moved = await open();
    const cached = new CachedStorage(moved, { fillWaitMs: 30_000, partFillWaitMs: 30_000 });
    const knowing = await open();
    const kept = await moved.create(key('kept'), 'u', '1');
    await cached.list({ resource: 'things' });
    const lost = await knowing.create(key('lost'), 'u', '1');
    await knowing.stop();
    opened.splice(opened.indexOf(knowing), 1);
    await lose(kept.resourceVersion);
    await promoted();
    await open();
    await cached.create(key('next'), 'u', '1');
    // The request of a client of the lost process, which has seen the lost version.
    await assert.rejects(cached.watch({ resource: 'things' }, lost.resourceVersion), failsWith('Expired'));
    await assert.rejects(cached.list({ resource: 'things', at: lost.resourceVersion }), failsWith('Expired'));
    await cached.stop();
    await close();
  });

  it('is never written by a process of an older epoch, and no version comes twice', async () => {
    await fresh();
    const knowing = await open();
    const ignorant = await open();
    const kept = await ignorant.create(key('kept'), 'u', '1');
    const lost = await knowing.create(key('lost'), 'u', '1');
    await lose(kept.resourceVersion);
    // The process that saw the lost version notices the loss; the connection of the other process never breaks.
    await knowing.head();
    assert.equal(ignorant.epoch?.epoch, 1n);
    const next = await ignorant.create(key('next'), 'u', '1');
    assert.ok(next.resourceVersion > lost.resourceVersion + LEAP);
    assert.equal(ignorant.epoch?.epoch, 2n);
    assert.deepEqual(knowing.epoch, ignorant.epoch);
    await close();
  });

  it('leaps after a promotion even when nobody here has seen a missing version', async () => {
    await fresh();
    const changes: EpochChange[] = [];
    const storage = await open(changes);
    const first = await storage.create(key('a'), 'u', '1');
    const watch = await storage.watch({ resource: 'things' }, first.resourceVersion);
    const { resourceVersion: end } = await storage.create(key('b'), 'u', '1');
    await promoted();
    // The connection is kept: behind a pooler it silently leads to another server.
    const next = await storage.create(key('c'), 'u', '1');
    assert.ok(next.resourceVersion > LEAP);
    assert.equal(storage.epoch?.epoch, 1n, 'nothing is known to be lost');
    // Watches continue, and earlier versions can be read.
    assert.deepEqual(
      (await collectUpTo(watch, next.resourceVersion)).map((change) => change.key.name),
      ['b', 'c'],
    );
    assert.equal((await storage.list({ resource: 'things', at: first.resourceVersion })).items.length, 1);
    assert.equal((await storage.list({ resource: 'things', at: end })).items.length, 2);
    // The lost server may have assigned versions in the gap.
    const lost = storage.lostVersions();
    assert.equal(lost?.after, end);
    for (const version of [end + 1n, end + LEAP / 2n, (lost?.until ?? 0n) - 1n]) {
      await assert.rejects(storage.watch({ resource: 'things' }, version), failsWith('Expired'));
      await assert.rejects(storage.list({ resource: 'things', at: version }), failsWith('Expired'));
    }
    assert.ok(changes.some((change) => change.action === 'resumed'));
    watch.close();
    await close();
  });

  it('turns into a new epoch when a process comes back that saw lost versions', async () => {
    await fresh();
    const early = await open();
    const changes: EpochChange[] = [];
    const late = await open(changes);
    const kept = await early.create(key('kept'), 'u', '1');
    const lost = await late.create(key('lost'), 'u', '1');
    await lose(kept.resourceVersion);
    await promoted();
    const next = await early.create(key('next'), 'u', '1');
    assert.equal(early.epoch?.epoch, 1n);
    const watch = await early.watch({ resource: 'things' }, next.resourceVersion);
    // The read begins a new epoch: otherwise the results of `late` would mix both histories.
    await late.head();
    assert.equal(late.epoch?.epoch, 2n);
    assert.equal(missing(changes), lost.resourceVersion - kept.resourceVersion);
    const further = await early.create(key('further'), 'u', '1');
    assert.equal(further.resourceVersion > next.resourceVersion, true);
    assert.equal(early.epoch?.epoch, 2n);
    await assert.rejects(early.watch({ resource: 'things' }, kept.resourceVersion), failsWith('Expired'));
    // Later writes belong to the history that continues.
    assert.deepEqual(
      (await collectUpTo(watch, further.resourceVersion)).map((change) => change.key.name),
      ['further'],
    );
    watch.close();
    await close();
  });

  it('lets exactly one of many processes repair it', async () => {
    await fresh();
    const storages = await Promise.all(Array.from({ length: 4 }, () => open()));
    const kept = await storages[0]?.create(key('kept'), 'u', '1');
    await Promise.all(storages.map((storage, i) => storage.create(key(`lost${i}`), 'u', '1')));
    await lose(kept?.resourceVersion ?? 0n);
    await cutWriters();
    const written = await Promise.all(storages.map((storage, i) => storage.create(key(`next${i}`), 'u', '1')));
    assert.equal(new Set(written.map((object) => object.resourceVersion)).size, 4);
    const { rows } = await client.query(`select action from plinth.epoch_changes`);
    assert.deepEqual(rows, [{ action: 'reset' }]);
    assert.deepEqual(
      storages.map((storage) => storage.epoch?.epoch),
      [2n, 2n, 2n, 2n],
    );
    await close();
  });

  it('is checked on several connections at once, and lost versions count once', async () => {
    await fresh();
    const changes: EpochChange[] = [];
    const epochs = new EpochKeeper({ ...silentObserver, epoch: (change) => changes.push(change) }, () =>
      Promise.reject(new Error('no other connection')),
    );
    const storage = await open();
    const sessions = await Promise.all(Array.from({ length: 3 }, () => session()));
    await epochs.enter(sessions[0] as Session);
    const kept = await storage.create(key('kept'), 'u', '1');
    const lost = await storage.create(key('lost'), 'u', '1');
    epochs.observe(lost.resourceVersion);
    await lose(kept.resourceVersion);
    await Promise.all(sessions.map((each) => epochs.enter(each)));
    assert.equal(changes.length, 4);
    assert.equal(missing(changes), lost.resourceVersion - kept.resourceVersion);
    for (const each of sessions) await each.close();
    await close();
  });

  it('found to be another one during a read lets the read be repeated', async () => {
    await fresh();
    const epochs = new EpochKeeper(silentObserver, () => Promise.reject(new Error('no other connection')));
    const storage = await open();
    const reader = await session();
    await epochs.enter(reader);
    const kept = await storage.create(key('kept'), 'u', '1');
    const lost = await storage.create(key('lost'), 'u', '1');
    epochs.observe(lost.resourceVersion);
    await storage.stop();
    opened.splice(0);
    await lose(kept.resourceVersion);
    await promoted();
    // The process has not seen the lost version, and so does not know that it must no longer be read.
    await (await open()).create(key('next'), 'u', '1');
    let reads = 0;
    const [bounds] = await epochs.read(1, async () => {
      const rows = await reader.run(LOG_BOUNDS, [], 30_000);
      // The check of a new connection finishes before the result of the read arrives.
      if (reads++ === 0) await epochs.enter(reader);
      return rows;
    });
    assert.equal(epochs.current?.epoch, 2n);
    assert.ok(BigInt(bounds?.[0] ?? 0) > lost.resourceVersion, `readable from ${bounds?.[0]}`);
    await reader.close();
    await close();
  });

  it('is recognized as a restored copy', async () => {
    await fresh();
    const storage = await open();
    const { resourceVersion } = await storage.create(key('a'), 'u', '1');
    await storage.stop();
    opened.splice(0);
    await client.end();
    // A copy of the database under another name stands for a restored dump.
    const copy = new URL(databaseUrl);
    copy.pathname = `${copy.pathname}_copy`;
    const admin = new pg.Client({ connectionString: server.adminUrl });
    await admin.connect();
    await admin.query(`create database ${copy.pathname.slice(1)} template ${new URL(databaseUrl).pathname.slice(1)}`);
    await admin.end();
    databaseUrl = copy.href;
    client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    const restored = await open();
    const next = await restored.create(key('b'), 'u', '1');
    assert.ok(next.resourceVersion > resourceVersion + LEAP);
    await assert.rejects(restored.watch({ resource: 'things' }, resourceVersion + 7n), failsWith('Expired'));
    await close();
  });

  describe('fence', () => {
    it('ends everything from before, reports it, and may be repeated', async () => {
      await fresh();
      const storage = await open();
      const { resourceVersion } = await storage.create(key('a'), 'u', '1');
      await assert.rejects(fence(databaseUrl, { bump: 10n, force: false }), /connections of plinth are open/);
      const watch = await storage.watch({ resource: 'things' }, resourceVersion);
      const first = await fence(databaseUrl, { bump: 5_000_000n, force: true });
      assert.equal(first.before, resourceVersion);
      assert.equal(first.epoch, 2n);
      assert.ok(first.head > resourceVersion + 5_000_000n);
      await assert.rejects(ended(watch), failsWith('Expired'));
      const next = await put(storage, key('a'), '2');
      assert.ok(next.object.resourceVersion > first.head);
      await storage.stop();
      opened.splice(0);
      const again = await fence(databaseUrl, { bump: 1n, force: false });
      assert.equal(again.epoch, 3n);
      const restarted = await open();
      assert.equal((await restarted.get(key('a')))?.json, '2');
      assert.equal(restarted.epoch?.epoch, 3n, 'a start after it finds nothing to repair');
      await close();
    });

    it('leaves room for any number of later fences', async () => {
      await fresh();
      await assert.rejects(
        fence(databaseUrl, { bump: 9_100_000_000_000_000_000n, force: false }),
        /too close to the largest/,
      );
      const { rows } = await client.query('select epoch from plinth.epoch');
      assert.deepEqual(rows, [{ epoch: '1' }]);
      await close();
    });
  });
});
