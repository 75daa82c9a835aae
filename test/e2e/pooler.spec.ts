import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { createPostgresStorage, type PostgresStorage } from '../../src/storage/postgres/postgres-storage.js';
import { resolveOptions, silentObserver } from '../../src/storage/postgres/postgres-storage-options.js';
import { Retention } from '../../src/storage/postgres/retention.js';
import { SessionPool } from '../../src/storage/postgres/session-pool.js';
import { collectUpTo } from '../../src/storage/testing/storage-contract.js';
import { PgBouncer } from '../support/pgbouncer.js';
import { startTestPostgres, type TestPostgres } from '../support/test-postgres.js';
import { eventually, type PoolerMode, TestCluster } from './support/test-cluster.js';

const path = '/api/v1/namespaces/default/configmaps';
const slowPollMs = 60_000;

for (const pooler of ['direct-listen', 'polling'] satisfies PoolerMode[]) {
  describe(`servers behind a transaction pooler, ${pooler}`, () => {
    let cluster: TestCluster;

    before(async () => {
      cluster = await TestCluster.start({ servers: 2, fsync: true, pooler });
    });
    after(() => cluster.stop());

    it('write, list and watch across processes as without one', async () => {
      const start = (await cluster.second.client.get(path)).body.metadata.resourceVersion;
      const watch = await cluster.second.client.watch(`${path}?watch=1&resourceVersion=${start}`);
      const names = Array.from({ length: 200 }, (_, i) => `n${String(i).padStart(3, '0')}`);
      const answers = await Promise.all(
        names.map((name, i) =>
          cluster.servers[i % 2]?.client.post(path, { metadata: { name }, data: { i: `${i}` } }).then((a) => a.status),
        ),
      );
      assert.deepEqual(new Set(answers), new Set([201]));
      const events = await watch.take(200, 30_000);
      const versions = events.map((event) => BigInt(event.object.metadata.resourceVersion));
      assert.ok(versions.every((version, i) => i === 0 || version > (versions[i - 1] ?? 0n)));
      assert.deepEqual(events.map((event) => event.object.metadata.name).sort(), names);
      watch.close();
      const listed: string[] = [];
      let token = '';
      do {
        const answer = await cluster.first.client.get(`${path}?limit=33&continue=${encodeURIComponent(token)}`);
        const page: { items: { metadata: { name: string } }[]; metadata: { continue: string } } = answer.body;
        listed.push(...page.items.map((item) => item.metadata.name));
        token = page.metadata.continue;
      } while (token !== '');
      assert.deepEqual(
        listed.filter((name) => name.startsWith('n')),
        names,
      );
    });

    it('leave no statements, settings or LISTEN behind on connections that serve others', async () => {
      // Only a session itself can see its remains. With one server connection all clients share it.
      const route = await PgBouncer.start(cluster.postgres.adminUrl, { poolSize: 1 });
      const storage = await createPostgresStorage({ databaseUrl: route.through(cluster.databaseUrl) });
      await storage.create({ resource: 'things', namespace: '', name: 'a' }, 'u', '{}');
      await storage.list({ resource: 'things' });
      const inside = new pg.Client({ connectionString: route.through(cluster.databaseUrl) });
      await inside.connect();
      const { rows } = await inside.query(
        `select (select count(*) from pg_prepared_statements where name <> '') as statements,
           (select count(*) from pg_listening_channels() c where c like 'plinth\\_hints\\_%') as channels,
           current_setting('statement_timeout') as timeout,
           (select count(*) from pg_locks where relation is not null and mode = 'ExclusiveLock' and pid = pg_backend_pid()) as locks`,
      );
      assert.deepEqual(rows, [{ statements: '0', channels: '0', timeout: '0', locks: '0' }]);
      await inside.end();
      await storage.stop();
      await route.stop();
    });

    it('say in the log whether notifications arrive', async () => {
      const silent = /notifications do not arrive on this connection, as behind a transaction pooler/;
      if (pooler === 'polling') {
        await eventually(() => silent.test(cluster.first.log), 'the result of the self-test');
      } else assert.doesNotMatch(cluster.first.log, silent);
    });

    it('heal after a database outage, and lose nothing', async () => {
      const start = (await cluster.second.client.get(path)).body.metadata.resourceVersion;
      const watch = await cluster.second.client.watch(`${path}?watch=1&resourceVersion=${start}`);
      assert.equal((await cluster.first.client.post(path, { metadata: { name: 'before' } })).status, 201);
      await cluster.postgres.shutDown('immediate');
      const during = await cluster.first.client.post(path, { metadata: { name: 'during' } });
      assert.ok(during.status === 503 || during.status === 504, during.text);
      await cluster.postgres.startAgain();
      await eventually(
        async () => {
          const { status } = await cluster.first.client.post(path, { metadata: { name: 'after' } });
          // Also succeeds if an attempt created the object and lost the response with its connection.
          return status === 201 || status === 409;
        },
        'a write after the outage',
        60_000,
      );
      const seen: string[] = [];
      while (!seen.includes('after')) {
        for (const event of await watch.take(1, 30_000)) seen.push(event.object.metadata.name);
      }
      assert.deepEqual(
        seen.filter((name) => name !== 'during'),
        ['before', 'after'],
      );
      watch.close();
    });
  });
}

describe('a store behind a transaction pooler', () => {
  let server: TestPostgres;
  let pooler: PgBouncer;
  let databaseUrl: string;

  before(async () => {
    server = await startTestPostgres();
    pooler = await PgBouncer.start(server.adminUrl, { poolSize: 2 });
    databaseUrl = await server.createTestDatabase();
  });
  after(async () => {
    await pooler.stop();
    await server.stop();
  });

  const through = async (listenDatabaseUrl?: string): Promise<PostgresStorage> =>
    createPostgresStorage({ databaseUrl: pooler.through(databaseUrl), listenDatabaseUrl, notifyPollMs: slowPollMs });

  it('is woken by notifications when LISTEN has a direct connection', async () => {
    const writer = await through(databaseUrl);
    const watcher = await through(databaseUrl);
    const watch = await watcher.watch({ resource: 'things' }, await watcher.head());
    const began = performance.now();
    for (let i = 0; i < 5; i++) {
      const { resourceVersion } = await writer.create({ resource: 'things', namespace: '', name: `d${i}` }, 'u', '{}');
      await collectUpTo(watch, resourceVersion);
    }
    // With polling each case would take a minute.
    assert.ok(performance.now() - began < slowPollMs / 2);
    watch.close();
    await writer.stop();
    await watcher.stop();
  });

  it('keeps the log, also without a direct connection', async () => {
    const url = pooler.through(databaseUrl);
    const storage = await through();
    const options = resolveOptions({ databaseUrl: url, observer: silentObserver });
    const pool = new SessionPool(options);
    const retention = new Retention(options, pool);
    const old = await storage.create({ resource: 'old', namespace: '', name: 'a' }, 'u', '{}');
    await retention.round(3_600_000, 0);
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    // A slow reader of the log: the partition has to wait for it, but other work only for a moment.
    await client.query('begin');
    await client.query('select count(*) from plinth.changes');
    assert.equal(await retention.round(0, 3_600_000), 0);
    await storage.create({ resource: 'old', namespace: '', name: 'b' }, 'u', '{}');
    await client.query('commit');
    // The server waits for other work only for a moment; a busy machine may read for longer.
    await eventually(async () => (await retention.round(0, 3_600_000)) >= 1, 'the end of the partition');
    assert.ok((await storage.compactRevision()) > old.resourceVersion);
    await client.end();
    await pool.stop();
    await storage.stop();
  });
});
