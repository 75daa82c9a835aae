import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { inParts } from '../../../test/support/in-parts.js';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import { StorageOptions } from '../../base/config/storage.options.js';
import type { StoredObject } from '../storage.interface.js';
import type { StorageKey } from '../storage-key.js';
import { collectUpTo, failsWith, put } from '../testing/storage-contract.js';
import { createPostgresStorage, type PostgresStorage } from './postgres-storage.js';
import { type LogSize, resolveOptions, silentObserver } from './postgres-storage-options.js';
import { Retention } from './retention.js';
import { SessionPool } from './session-pool.js';

const HOUR_MS = 3_600_000;

describe('retention of the log', () => {
  let server: TestPostgres;
  let client: pg.Client;
  /** Stays outside transactions, because pg_stat_activity is frozen inside them. */
  let observer: pg.Client;
  let storage: PostgresStorage;
  let pool: SessionPool;
  let retention: Retention;
  let resource = 0;

  before(async () => {
    server = await startTestPostgres();
    const databaseUrl = await server.createTestDatabase();
    // Rounds run only when a test calls them.
    const options = resolveOptions({ databaseUrl, retentionIntervalMs: 0 });
    storage = await createPostgresStorage(options);
    pool = new SessionPool(options);
    retention = new Retention(options, pool);
    client = new pg.Client({ connectionString: databaseUrl });
    observer = new pg.Client({ connectionString: databaseUrl });
    await Promise.all([client.connect(), observer.connect()]);
  });
  after(async () => {
    await client.end();
    await observer.end();
    await pool.stop();
    await storage.stop();
    await server.stop();
  });

  const key = (name: string): StorageKey => ({ resource: `r${resource}`, namespace: 'default', name });
  const partitions = async (): Promise<string[]> => {
    const { rows } = await client.query<{ name: string }>(
      `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'plinth.changes'::regclass
       order by inhrelid`,
    );
    return rows.map((row) => row.name);
  };
  const detachWaits = async (): Promise<string> => {
    for (;;) {
      const { rows } = await observer.query<{ pid: string }>(
        `select pid from pg_stat_activity
         where query like 'alter table%concurrently' and wait_event_type = 'Lock' and datname = current_database()`,
      );
      if (rows[0] !== undefined) return rows[0].pid;
    }
  };
  /** Removes everything written so far from the log. */
  const forget = async (): Promise<void> => {
    await retention.round(HOUR_MS, 0);
    await retention.round(0, HOUR_MS);
  };

  it('closes a partition that has changes by jumping to the next, and raises the head with it', async () => {
    resource += 1;
    await retention.round(HOUR_MS, 0);
    const emptied = await storage.head();
    await retention.round(HOUR_MS, 0);
    assert.equal(await storage.head(), emptied, 'an empty partition stays open');
    const { resourceVersion } = await storage.create(key('a'), 'u', '{}');
    await retention.round(HOUR_MS, HOUR_MS);
    assert.equal(await storage.head(), resourceVersion, 'a young partition stays open');
    await retention.round(HOUR_MS, 0);
    const head = await storage.head();
    assert.ok(head > resourceVersion);
    assert.equal((head + 1n) % (1n << 20n), 0n);
    const next = await storage.create(key('b'), 'u', '{}');
    assert.equal(next.resourceVersion, head + 1n);
    assert.equal((await storage.list({ resource: `r${resource}`, at: resourceVersion })).items.length, 1);
  });

  it('keeps a list at the newest version readable after any time without a write', async () => {
    resource += 1;
    await storage.create(key('a'), 'u', '1');
    await forget();
    const page = await storage.list({ resource: `r${resource}` });
    assert.equal(page.resourceVersion, await storage.compactRevision());
    await put(storage, key('a'), '2');
    const again = await storage.list({ resource: `r${resource}`, at: page.resourceVersion });
    assert.deepEqual(
      again.items.map((item) => item.json),
      ['1'],
    );
    const subscription = await storage.watch({ resource: `r${resource}` }, page.resourceVersion);
    const changes = await collectUpTo(subscription, await storage.head());
    assert.deepEqual(
      changes.map((change) => change.json),
      ['2'],
    );
    subscription.close();
  });

  it('raises the compact revision and drops everything below', async () => {
    resource += 1;
    const old = await storage.create(key('a'), 'u', '1');
    await put(storage, key('a'), '2');
    const before = await partitions();
    const compactRevision = await storage.compactRevision();
    await forget();
    assert.ok((await storage.compactRevision()) > compactRevision);
    assert.ok((await storage.compactRevision()) > old.resourceVersion);
    const after = await partitions();
    assert.equal(after.includes(before[0] ?? ''), false);
    assert.ok(after.length >= 4, 'partitions lie ahead');
    await assert.rejects(storage.list({ resource: `r${resource}`, at: old.resourceVersion }), failsWith('Expired'));
    await assert.rejects(storage.watch({ resource: `r${resource}` }, old.resourceVersion), failsWith('Expired'));
    assert.equal((await storage.get(key('a')))?.json, '2');
  });

  it('stores a state once in a partition, and tells what was before a change after older partitions have gone', async () => {
    resource += 1;
    await forget();
    const names = Array.from({ length: 12 }, (_, i) => `n${i}`);
    for (const name of names) await storage.create(key(name), 'u', `"1 ${name}"`);
    const putAll = (turn: number) => Promise.all(names.map((name) => put(storage, key(name), `"${turn} ${name}"`)));
    await putAll(2);
    // The batch of the next writes begins in this partition and ends in the next one.
    const { rows: bounds } = await client.query<{ upper: string }>(
      `select p.upper from plinth.change_partitions p where p.lower <= $1 and p.upper > $1`,
      [String(await storage.head())],
    );
    const upper = BigInt(bounds[0]?.upper ?? 0);
    await client.query(`select setval('plinth.resource_version', $1)`, [String(upper - 7n)]);
    await putAll(3);
    await putAll(4);
    const { rows } = await client.query<{ inPlace: boolean; stored: boolean; batch: string }>(
      `select c.previous_version / (1 << 20) = c.resource_version / (1 << 20) as "inPlace", c.previous is not null as stored,
         c.batch from plinth.changes c where c.resource = $1 and c.type = 1 order by c.resource_version`,
      [`r${resource}`],
    );
    assert.deepEqual(new Set(rows.map(({ inPlace, stored }) => inPlace !== stored)), new Set([true]));
    assert.ok(rows.some(({ stored }) => stored) && rows.some(({ stored }) => !stored));
    const crossing = new Set(rows.filter(({ stored }) => stored).map(({ batch }) => batch));
    assert.ok(
      rows.some(({ stored, batch }) => !stored && crossing.has(batch)),
      'a batch has rows of both kinds',
    );
    const shown = async (from: bigint) => {
      const subscription = await storage.watch({ resource: `r${resource}` }, from);
      const changes = await collectUpTo(subscription, await storage.head());
      subscription.close();
      return changes.map(({ key, previousJson, json }) => ({ name: key.name, before: previousJson, after: json }));
    };
    const all = await shown(await storage.compactRevision());
    const last = new Map<string, string>();
    for (const { name, before, after } of all) {
      assert.equal(before, last.get(name));
      last.set(name, after);
    }
    assert.equal(all.length, 4 * names.length);
    // The partition of the first states is dropped.
    await client.query('update plinth.change_partitions set closed_at = clock_timestamp() where upper = $1', [
      String(upper),
    ]);
    await client.query('update plinth.retention set closed = $1', [String(upper - 1n)]);
    await retention.round(0, HOUR_MS);
    const floor = await storage.compactRevision();
    assert.equal(floor, upper - 1n);
    const left = await shown(floor);
    assert.ok(left.length > 12 && left.length < 24);
    assert.deepEqual(left, all.slice(-left.length));
    const { items } = await storage.list({ resource: `r${resource}`, at: floor });
    assert.deepEqual(
      new Map(items.map((item) => [item.key.name, item.json])),
      new Map(all.slice(0, -left.length).map(({ name, after }) => [name, after])),
    );
  });

  it('never lowers the compact revision', async () => {
    const compactRevision = await storage.compactRevision();
    await retention.round(HOUR_MS * 24, HOUR_MS * 24);
    assert.equal(await storage.compactRevision(), compactRevision);
  });

  it('does not disturb a paged list until the compact revision passes its version', async () => {
    resource += 1;
    const all = Array.from({ length: 20 }, (_, i) => key(`n${String(i).padStart(2, '0')}`));
    for (const each of all) await storage.create(each, 'u', `"old ${each.name}"`);
    let page = await storage.list({ resource: `r${resource}`, limit: 3 });
    const at = page.resourceVersion;
    const found: StoredObject[] = [...page.items];
    for (let i = 0; i < 4; i++) {
      for (const each of all) await put(storage, each, `"new ${i}"`);
      await retention.round(HOUR_MS, 0);
      page = await storage.list({ resource: `r${resource}`, limit: 3, at, after: found.at(-1)?.key });
      found.push(...page.items);
    }
    assert.deepEqual(
      found.map((item) => item.json),
      all.slice(0, 15).map((each) => `"old ${each.name}"`),
    );
    await forget();
    await assert.rejects(
      storage.list({ resource: `r${resource}`, limit: 3, at, after: found.at(-1)?.key }),
      failsWith('Expired'),
    );
  });

  it('keeps pages and watches going for five minutes by default, and no longer', async () => {
    resource += 1;
    const { watchHistoryMs } = new StorageOptions();
    assert.equal(watchHistoryMs, 300_000);
    for (const name of ['a', 'b', 'c']) await storage.create(key(name), 'u', '1');
    const first = await storage.list({ resource: `r${resource}`, limit: 1 });
    const rest = () =>
      storage.list({ resource: `r${resource}`, at: first.resourceVersion, after: first.items.at(-1)?.key });
    await put(storage, key('b'), '2');
    await retention.round(watchHistoryMs, 0);
    // Makes the partitions look older instead of waiting for minutes: the database's clock can't be set.
    const pass = (seconds: number) =>
      client.query(`update plinth.change_partitions set closed_at = closed_at - make_interval(secs => $1)`, [seconds]);
    await pass(285);
    await retention.round(watchHistoryMs, HOUR_MS);
    assert.deepEqual(
      (await rest()).items.map(({ json }) => json),
      ['1', '1'],
    );
    (await storage.watch({ resource: `r${resource}` }, first.resourceVersion)).close();
    await pass(30);
    await retention.round(watchHistoryMs, HOUR_MS);
    await assert.rejects(rest(), failsWith('Expired'));
    await assert.rejects(storage.watch({ resource: `r${resource}` }, first.resourceVersion), failsWith('Expired'));
  });

  it('does not disturb a watch that keeps up', async () => {
    resource += 1;
    const from = await storage.head();
    await storage.create(key('a'), 'u', '1');
    const subscription = await storage.watch({ resource: `r${resource}` }, from);
    await retention.round(HOUR_MS, 0);
    const changes = await collectUpTo(subscription, await storage.head());
    await retention.round(0, HOUR_MS);
    const { resourceVersion } = await storage.create(key('b'), 'u', '2');
    changes.push(...(await collectUpTo(subscription, resourceVersion)));
    assert.deepEqual(
      changes.map((change) => change.key.name),
      ['a', 'b'],
    );
    subscription.close();
  });

  it('ends a watch whose history is dropped before it was read', async () => {
    resource += 1;
    const from = await storage.head();
    await inParts(2_500, (i) => storage.create(key(`n${i}`), 'u', '1'));
    const subscription = await storage.watch({ resource: `r${resource}` }, from);
    assert.ok(((await subscription.next())?.changes.length ?? 0) > 0);
    await forget();
    await assert.rejects(subscription.next(), failsWith('Expired'));
    subscription.close();
  });

  it('never blocks writers and readers while a long reader keeps a partition from being dropped', async () => {
    resource += 1;
    await storage.create(key('a'), 'u', '1');
    await retention.round(HOUR_MS, 0);
    await client.query('begin isolation level repeatable read');
    await client.query('select count(*) from plinth.changes');
    const dropping = retention.round(0, HOUR_MS);
    await detachWaits();
    await storage.create(key('b'), 'u', '1');
    assert.equal((await storage.list({ resource: `r${resource}` })).items.length, 2);
    await storage.head();
    await observer.query('select plinth.add_change_partitions(8)');
    await client.query('commit');
    assert.ok((await dropping) >= 1);
  });

  it('is not held up by a long transaction that does not use the log', async () => {
    resource += 1;
    await client.query('begin isolation level repeatable read');
    await client.query('create temp table busy as select pg_current_xact_id() as x');
    const old = await storage.create(key('a'), 'u', '1');
    const watch = await storage.watch({ resource: `r${resource}` }, old.resourceVersion);
    const next = await put(storage, key('a'), '2');
    assert.equal((await collectUpTo(watch, next.object.resourceVersion)).length, 1);
    watch.close();
    const before = await storage.compactRevision();
    await retention.round(HOUR_MS, 0);
    assert.ok((await retention.round(0, HOUR_MS)) >= 1);
    assert.ok((await storage.compactRevision()) > before);
    await client.query('rollback');
  });

  it('reports the size of the log', async () => {
    const sizes: LogSize[] = [];
    const options = resolveOptions({
      databaseUrl: server.adminUrl.replace(/[^/]*$/, (await client.query('select current_database() as d')).rows[0].d),
      observer: { ...silentObserver, retention: (_compactRevision, _dropped, size) => sizes.push(size) },
    });
    const own = new SessionPool(options);
    const upkeep = new Retention(options, own);
    await upkeep.round(HOUR_MS, HOUR_MS);
    resource += 1;
    await storage.create(key('a'), 'u', '1');
    await upkeep.round(HOUR_MS, HOUR_MS);
    await own.stop();
    assert.ok((sizes[0]?.deadRows ?? -1) >= 0);
    assert.ok((sizes[1]?.walBytes ?? 0) > (sizes[0]?.walBytes ?? 0));
    assert.equal(sizes[0]?.partitions, (await partitions()).length);
    assert.ok((sizes[0]?.bytes ?? 0) > 8192);
    assert.equal(sizes[0]?.notificationQueue, 0);
  });

  it('finishes an interrupted round', async () => {
    resource += 1;
    await storage.create(key('a'), 'u', '1');
    await retention.round(HOUR_MS, 0);
    await client.query('begin');
    await client.query('select count(*) from plinth.changes');
    const dropping = retention.round(0, HOUR_MS);
    await observer.query('select pg_cancel_backend($1)', [await detachWaits()]);
    assert.equal(await dropping, 0);
    const pending = await observer.query('select from pg_inherits where inhdetachpending');
    assert.equal(pending.rowCount, 1);
    await client.query('commit');
    assert.equal(await retention.round(0, HOUR_MS), 1);
  });

  it('lets two processes work at the same time', async () => {
    resource += 1;
    await storage.create(key('a'), 'u', '1');
    await retention.round(HOUR_MS, 0);
    await Promise.all([1, 2, 3].map(() => retention.round(0, 0)));
    await retention.round(0, 0);
    await storage.create(key('b'), 'u', '1');
    const known = await client.query<{ name: string }>(
      `select 'plinth.changes_' || lower as name from plinth.change_partitions`,
    );
    assert.deepEqual(known.rows.map((row) => row.name).sort(), (await partitions()).sort());
  });

  it('makes partitions on demand when the range ahead is used up', async () => {
    resource += 1;
    const { rows } = await client.query<{ upper: string }>('select max(upper) as upper from plinth.change_partitions');
    await client.query(`select setval('plinth.resource_version', $1, false)`, [rows[0]?.upper]);
    const { resourceVersion } = await storage.create(key('a'), 'u', '1');
    assert.ok(resourceVersion >= BigInt(rows[0]?.upper ?? '0'));
  });

  it('forgets old fences', async () => {
    await client.query(`insert into plinth.fenced_batches values (1, now() - interval '2 hours'), (2, now())`);
    await retention.round(HOUR_MS, HOUR_MS);
    const { rows } = await client.query<{ batch: string }>('select batch from plinth.fenced_batches');
    assert.deepEqual(rows, [{ batch: '2' }]);
  });
});
