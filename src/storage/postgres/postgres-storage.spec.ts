import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import { failsWith, put, storageContract } from '../testing/storage-contract.js';
import { createPostgresStorage, type PostgresStorage } from './postgres-storage.js';

describe('PostgresStorage', () => {
  let server: TestPostgres;
  before(async () => {
    server = await startTestPostgres();
  });
  after(async () => server.stop());

  describe('contract', () => {
    storageContract(async () => {
      const storage = await createPostgresStorage({ databaseUrl: await server.createTestDatabase() });
      return { storage, stop: () => storage.stop() };
    });
  });

  describe('on its own', () => {
    let storage: PostgresStorage;
    before(async () => {
      storage = await createPostgresStorage({ databaseUrl: await server.createTestDatabase() });
    });
    after(async () => storage.stop());

    it('starts an empty store above version 0', async () => {
      assert.equal(await storage.head(), 1n);
      assert.equal(await storage.compactRevision(), 1n);
      assert.deepEqual(await storage.list({ resource: 'pods' }), {
        resourceVersion: 1n,
        items: [],
        more: false,
        remaining: undefined,
      });
    });

    it('answers each write of a batch for itself', async () => {
      const key = (name: string) => ({ resource: 'mixed', namespace: '', name });
      await Promise.all(['a', 'b', 'c'].map((name) => storage.create(key(name), name, '1')));
      const stale = await storage.get(key('b'));
      await put(storage, key('b'), '2');
      const results = await Promise.allSettled([
        storage.create(key('a'), 'x', '3'),
        put(storage, key('c'), '3'),
        storage.guaranteedUpdate(key('b'), { hint: stale }, (current) => ({
          kind: 'write',
          json: `[${current?.json}]`,
          uid: 'b',
        })),
        storage.create(key('d'), 'd', '3'),
        storage.guaranteedUpdate(key('e'), {}, () => ({ kind: 'unchanged' })),
      ]);
      assert.deepEqual(
        results.map((result) => result.status),
        ['rejected', 'fulfilled', 'fulfilled', 'fulfilled', 'rejected'],
      );
      assert.deepEqual(
        (await storage.list({ resource: 'mixed' })).items.map((item) => item.json),
        ['1', '[2]', '3', '3'],
      );
    });

    it('pages an unlimited list at one version', async () => {
      const json = JSON.stringify({ filling: 'x'.repeat(20_000) });
      await Promise.all(
        Array.from({ length: 1_200 }, (_, i) =>
          storage.create({ resource: 'large', namespace: '', name: `${i}` }, 'u', json),
        ),
      );
      const pages = [];
      for await (const page of storage.pages({ resource: 'large' })) {
        pages.push(page);
        await storage.create({ resource: 'large', namespace: '', name: `9-late-${pages.length}` }, 'u', json);
      }
      assert.ok(pages.length >= 4, `${pages.length} pages`);
      assert.equal(new Set(pages.map((page) => page.resourceVersion)).size, 1);
      assert.equal(
        pages.reduce((sum, page) => sum + page.items.length, 0),
        1_200,
      );
    });

    it('uses the primary key on tables that grew since the plan was made', async () => {
      // Five calls make a plan permanent, while the table is empty.
      const databaseUrl = await server.createTestDatabase();
      const few = await createPostgresStorage({ databaseUrl });
      try {
        const key = (i: number) => ({ resource: 'grown', namespace: 'default', name: `n${i}` });
        for (let i = 0; i < 10; i++) await few.get(key(i));
        await Promise.all(Array.from({ length: 10_000 }, (_, i) => few.create(key(i), 'u', '{"n":1}')));
        for (let i = 0; i < 100; i++) await few.get(key(i * 100));
      } finally {
        // Sessions tell what they have read when they end.
        await few.stop();
      }
      const counter = new pg.Client({ connectionString: databaseUrl });
      await counter.connect();
      try {
        const { rows } = await counter.query(
          `select seq_tup_read::int as scanned, (select sum(idx_tup_read)::int from pg_stat_user_indexes i
             where i.relid = t.relid) as found
           from pg_stat_user_tables t where relname = 'objects'`,
        );
        assert.deepEqual(rows, [{ scanned: 0, found: 100 }]);
      } finally {
        await counter.end();
      }
    });

    it('fails calls after stop with Closed', async () => {
      const stopped = await createPostgresStorage({ databaseUrl: await server.createTestDatabase() });
      const subscription = await stopped.watch({ resource: 'x' }, 1n);
      await stopped.stop();
      const key = { resource: 'x', namespace: '', name: 'n' };
      await assert.rejects(stopped.create(key, 'u', '{}'), failsWith('Closed'));
      await assert.rejects(stopped.get(key), failsWith('Closed'));
      await assert.rejects(subscription.next(), failsWith('Closed'));
      await assert.rejects(stopped.watch({ resource: 'x' }, 1n), failsWith('Closed'));
    });

    it('refuses unusable options and databases', async () => {
      await assert.rejects(createPostgresStorage({ databaseUrl: 'postgres://x', watchHistoryMs: 1000 }), RangeError);
      await assert.rejects(createPostgresStorage({ databaseUrl: server.adminUrl }), /schema version 0/);
      const nobody = `postgres://postgres@127.0.0.1:1/none`;
      await assert.rejects(createPostgresStorage({ databaseUrl: nobody, writeWaitMs: 200 }), failsWith('Unavailable'));
    });
  });
});
