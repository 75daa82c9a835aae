import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { inParts } from '../../../test/support/in-parts.js';
import { untilNoSessions } from '../../../test/support/other-sessions.js';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import { everyField } from '../../base/machinery/field-selector.js';
import { parseLabelSelector } from '../../base/machinery/label-selector.js';
import type { AttributeSource } from '../selection-predicate.js';
import type { ListQuery } from '../storage.interface.js';
import { failsWith, put, remove, storageContract } from '../testing/storage-contract.js';
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
        storage.guaranteedUpdate(key('b'), { cachedCopy: stale }, (current) => ({
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

    it('sends few of the objects that a selection does not want', async () => {
      const url = await server.createTestDatabase();
      let texts = 0;
      const extracted: AttributeSource = {
        extract: (json) => {
          texts += 1;
          return { source: extracted, labels: JSON.parse(json).metadata.labels, fields: {} };
        },
      };
      const select = (labels: string) => ({
        source: extracted,
        labels: parseLabelSelector(labels),
        fields: everyField,
      });
      const found = await createPostgresStorage({ databaseUrl: url });
      try {
        const resource = 'labelled';
        const wanted = (i: number) => i % 100 === 7;
        const text = (i: number, part: string) =>
          JSON.stringify({
            metadata: { labels: { app: 'x', part, n: `${i}` } },
            note: wanted(i + 1) ? '"part":"seven"' : '',
          });
        const key = (i: number) => ({ resource, namespace: `ns-${i % 2}`, name: `n${String(i).padStart(4, '0')}` });
        const numbers = Array.from({ length: 3_000 }, (_, i) => i);
        await Promise.all(numbers.map((i) => found.create(key(i), 'u', text(i, wanted(i) ? 'seven' : 'other'))));
        const { resourceVersion: at } = await found.list({ resource, limit: 1 });
        await put(found, key(7), text(7, 'changed'));
        await put(found, key(8), text(8, 'seven'));
        await remove(found, key(107));
        const list = async (query: Partial<ListQuery>) => {
          texts = 0;
          const { items, more, resourceVersion } = await found.list({
            resource,
            select: select('part=seven'),
            ...query,
          });
          return { numbers: items.map(({ key }) => Number(key.name.slice(1))), more, resourceVersion, texts };
        };
        const then = numbers.filter(wanted);
        const now = [...then.filter((i) => i !== 7 && i !== 107), 8];
        const inOrder = (some: number[]) => some.sort((a, b) => (a % 2) - (b % 2) || a - b);
        const newest = await list({});
        assert.deepEqual(newest.numbers, inOrder(now));
        // Besides the selected objects, only the last object of each page is sent.
        assert.ok(newest.texts < 100, `${newest.texts} texts`);
        const past = await list({ at });
        assert.deepEqual([past.numbers, past.resourceVersion], [inOrder(then), at]);
        assert.deepEqual((await list({ namespace: 'ns-0' })).numbers, [8]);
        const some = await list({ limit: 5, after: { namespace: 'ns-1', name: 'n0300' } });
        assert.deepEqual([some.numbers, some.more], [[307, 407, 507, 607, 707], true]);
        assert.deepEqual((await list({ select: select('n in (5,2999,4000),app=x') })).numbers, [5, 2999]);
        assert.deepEqual((await list({ select: select('part!=other,app=x,n notin (8)') })).numbers.length, 29);
        assert.deepEqual((await list({ select: select('part=none') })).numbers, []);
        // Searching each text for many words would take far longer than sending the texts.
        const many = await list({ select: select(`n in (5,${Array.from({ length: 100 }, (_, i) => 5_000 + i)})`) });
        assert.deepEqual(many.numbers, [5]);
        assert.ok(many.texts >= 2_999, `${many.texts} texts`);
      } finally {
        await found.stop();
      }
    });

    it('ends a page with the object that exceeds its bytes, however well its text is compressed', async () => {
      const json = (size: number) => JSON.stringify({ text: 'a'.repeat(size) });
      for (let i = 0; i < 20; i++) {
        await storage.create({ resource: 'heavy', namespace: '', name: `small-${i + 10}` }, `s${i}`, json(10));
        await storage.create({ resource: 'heavy', namespace: '', name: `tall-${i + 10}` }, `t${i}`, json(100_000));
      }
      const sizes: number[] = [];
      const names: string[] = [];
      let query: ListQuery = { resource: 'heavy', limit: 50, pageBytes: 250_000 };
      for (;;) {
        const { items, more, resourceVersion } = await storage.list(query);
        sizes.push(items.reduce((sum, item) => sum + item.json.length, 0));
        names.push(...items.map(({ key }) => key.name));
        const last = items.at(-1)?.key;
        if (!more || last === undefined) break;
        query = { ...query, at: resourceVersion, after: { namespace: '', name: last.name } };
      }
      assert.ok(Math.max(...sizes) < 350_100, `sizes of pages: ${sizes.join(' ')}`);
      assert.equal(sizes.length, 7);
      const all = (await storage.list({ resource: 'heavy' })).items.map(({ key }) => key.name);
      assert.deepEqual(names, all);
      // The page has fewer objects than requested, and nothing follows it.
      const small = await storage.list({ resource: 'heavy', namespace: '', name: 'small-10', pageBytes: 10, limit: 5 });
      assert.deepEqual([small.items.length, small.more], [1, false]);
    });

    it('reads the log in parts of bounded size, however well its text is compressed', async () => {
      const { resourceVersion } = await storage.list({ resource: 'tall', limit: 1 });
      const text = JSON.stringify({ text: 'a'.repeat(2_000_000) });
      for (let i = 0; i < 25; i++)
        await storage.create({ resource: 'tall', namespace: '', name: `${i}` }, `${i}`, text);
      const changes = await storage.watch({ resource: 'tall' }, resourceVersion);
      const counts: number[] = [];
      for (let seen = 0; seen < 25; ) {
        const batch = await changes.next();
        assert.ok(batch);
        counts.push(batch.changes.length);
        seen += batch.changes.length;
      }
      changes.close();
      assert.ok(Math.max(...counts) <= 10, `changes of one read: ${counts.join(' ')}`);
    });

    it('pages an unlimited list at one version', async () => {
      const json = JSON.stringify({ filling: 'x'.repeat(20_000) });
      await inParts(1_200, (i) => storage.create({ resource: 'large', namespace: '', name: `${i}` }, 'u', json));
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
      // After five calls a plan becomes permanent, here while the table is still empty.
      const databaseUrl = await server.createTestDatabase();
      const few = await createPostgresStorage({ databaseUrl });
      try {
        const key = (i: number) => ({ resource: 'grown', namespace: 'default', name: `n${i}` });
        for (let i = 0; i < 10; i++) await few.get(key(i));
        await inParts(10_000, (i) => few.create(key(i), 'u', '{"n":1}'));
        for (let i = 0; i < 100; i++) await few.get(key(i * 100));
      } finally {
        // Sessions report their read statistics when they end.
        await few.stop();
      }
      await untilNoSessions(databaseUrl);
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
