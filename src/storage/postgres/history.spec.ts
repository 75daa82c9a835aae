import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import { HOUR_MS, key, text, update } from '../testing/history-helpers.js';
import { HistoryScene } from '../testing/history-scene.js';
import { failsWith, put } from '../testing/storage-contract.js';
import { remove } from '../testing/storage-helpers.js';
import { resolveOptions } from './postgres-storage-options.js';
import { Retention } from './retention.js';

let server: TestPostgres;
before(async () => {
  server = await startTestPostgres({ fsync: false });
});
after(() => server.stop());

describe('the past behind the log', () => {
  it('shows every version as a list showed it, whether in the log, copied, or both', () =>
    HistoryScene.use(server, async (scene) => {
      const { storage } = scene;
      const seen: [bigint, Record<string, unknown>][] = [];
      await storage.create(key('before'), 'u0', text(0));
      await storage.create(key('quiet'), 'u9', text('quiet'));
      seen.push(await scene.listed());
      await scene.retention.round(HOUR_MS, HOUR_MS);
      for (let round = 1; round <= 3; round++) {
        await put(storage, key('before'), text(round));
        seen.push(await scene.listed());
        await storage.create(key(`new${round}`), `u${round}`, text(round));
        await put(storage, key(`new${round}`), text(round + 100));
        seen.push(await scene.listed());
        if (round > 1) await remove(storage, key(`new${round - 1}`));
        seen.push(await scene.listed());
        if (round < 3) await scene.retire();
      }
      await remove(storage, key('before'));
      await storage.create(key('before'), 'again', text('again'));
      seen.push(await scene.listed());
      for (const [version, objects] of seen) assert.deepEqual(await scene.asOf(version), objects, `version ${version}`);
      await scene.retire();
      for (const [version, objects] of seen) assert.deepEqual(await scene.asOf(version), objects, `copied ${version}`);
      const [size] = await scene.rows<{ partitions: string; bytes: string; oldest_version: string }>(
        'select * from cluster.history_size()',
      );
      assert.equal(size?.partitions, '3');
      assert.ok(Number(size?.bytes) > 0);
      const [oldest] = seen[0] ?? [0n];
      assert.ok(BigInt(size?.oldest_version ?? 0) <= oldest);
      // Reads at an exact version reach back as far as the history, page by page.
      const first = await storage.list({ resource: 'things', at: oldest, limit: 1 });
      assert.deepEqual([first.items.map((item) => item.key.name), first.more], [['before'], true]);
      const second = await storage.list({ resource: 'things', at: oldest, after: first.items[0]?.key });
      assert.deepEqual(
        second.items.map((item) => item.json),
        [text('quiet')],
      );
      await assert.rejects(storage.list({ resource: 'things', at: 0n }), failsWith('Expired'));
    }));

  it('stays right while others write, and whoever copies and drops is killed again and again', () =>
    HistoryScene.use(server, async (scene) => {
      const { storage, retention } = scene;
      await retention.round(HOUR_MS, HOUR_MS);
      const seen: [bigint, Record<string, unknown>][] = [];
      let writing = true;
      const write = async (name: string): Promise<void> => {
        for (let i = 0; writing; i++) {
          if (i % 5 === 4) await remove(storage, key(name));
          else if (i % 5 === 0) await storage.create(key(name), `${name}-${i}`, text(i));
          else await update(storage, name, i);
        }
      };
      const kill = async (): Promise<void> => {
        while (writing) {
          await scene.rows(`select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and application_name like '%upkeep' and random() < 0.3`);
        }
      };
      const others = Promise.all([...['a', 'b', 'c'].map(write), kill()]);
      try {
        for (let round = 0; round < 12; round++) {
          seen.push(await scene.listed());
          await retention.round(HOUR_MS, 0).catch(() => undefined);
          await retention.round(0, HOUR_MS).catch(() => undefined);
          for (const [version, objects] of seen.slice(-3)) assert.deepEqual(await scene.asOf(version), objects);
        }
      } finally {
        writing = false;
        await others;
      }
      await scene.retire();
      for (const [version, objects] of seen) assert.deepEqual(await scene.asOf(version), objects, `version ${version}`);
      const [size] = await scene.rows<{ partitions: string }>('select partitions from cluster.history_size()');
      assert.ok(Number(size?.partitions) > 0);
    }));

  it('copies a state before a change only where no other row of the partition has it', () =>
    HistoryScene.use(server, async (scene) => {
      await scene.retention.round(HOUR_MS, HOUR_MS);
      await scene.storage.create(key('a'), 'u', text(0));
      await update(scene.storage, 'a', 1);
      await scene.retire();
      await update(scene.storage, 'a', 2);
      await update(scene.storage, 'a', 3);
      await scene.retire();
      const rows = await scene.rows(`select previous_version is not null as had, previous is not null as has
        from plinth.history order by resource_version`);
      const [created, inPlace, first] = [
        { had: false, has: false },
        { had: true, has: false },
        { had: true, has: true },
      ];
      assert.deepEqual(rows, [created, inPlace, first, inPlace]);
    }));

  it('goes by age: drops partitions, and refuses what was before', () =>
    HistoryScene.use(server, async (scene) => {
      const { storage } = scene;
      await scene.retention.round(HOUR_MS, HOUR_MS);
      const old = await storage.create(key('a'), 'u', text(1));
      await scene.retire();
      const kept = await update(storage, 'a', 2);
      await scene.retire();
      assert.deepEqual(Object.keys(await scene.asOf(old.resourceVersion)), ['a']);
      await scene.owner.query(`update plinth.history_partitions set last_at = last_at - interval '2 hours'
        where lower = (select min(lower) from plinth.history_partitions)`);
      await scene.retention.round(HOUR_MS, HOUR_MS);
      await assert.rejects(scene.asOf(old.resourceVersion), { code: '22023', message: /is too old; the oldest is/ });
      await assert.rejects(storage.list({ resource: 'things', at: old.resourceVersion }), failsWith('Expired'));
      assert.deepEqual(await scene.asOf(kept.resourceVersion), { a: [String(kept.resourceVersion), 2] });
      const tables = await scene.rows(`select from pg_inherits where inhparent = 'plinth.history'::regclass`);
      assert.equal(tables.length, 1);
      const leftovers = await scene.rows(`select from pg_class where relname like 'history\\_%' and relkind = 'r'
        and relname ~ '[0-9]$' and not relispartition`);
      assert.equal(leftovers.length, 0);
    }));

  it('goes by size: drops the oldest partitions, and never the newest', () =>
    HistoryScene.use(
      server,
      async (scene) => {
        const { storage } = scene;
        await scene.retention.round(HOUR_MS, HOUR_MS);
        const old = await storage.create(key('a'), 'u', text(1));
        await scene.retire();
        const kept = await update(storage, 'a', 2);
        await scene.retire();
        await scene.retention.round(HOUR_MS, HOUR_MS);
        await assert.rejects(scene.asOf(old.resourceVersion), { code: '22023', message: /is too old; the oldest is/ });
        assert.deepEqual(await scene.asOf(kept.resourceVersion), { a: [String(kept.resourceVersion), 2] });
        const [size] = await scene.rows<{ partitions: string }>('select partitions from cluster.history_size()');
        assert.equal(size?.partitions, '1');
      },
      { historyMaxBytes: 1 },
    ));

  it('keeps what is within its size', () =>
    HistoryScene.use(
      server,
      async (scene) => {
        await scene.retention.round(HOUR_MS, HOUR_MS);
        const old = await scene.storage.create(key('a'), 'u', text(1));
        await scene.retire();
        await update(scene.storage, 'a', 2);
        await scene.retire();
        await scene.retention.round(HOUR_MS, HOUR_MS);
        assert.deepEqual(await scene.asOf(old.resourceVersion), { a: [String(old.resourceVersion), 1] });
      },
      { historyMaxBytes: 2 ** 30 },
    ));

  it('is not given up by one process without the option, but an hour after the last one with it', () =>
    HistoryScene.use(server, async (scene) => {
      const { storage, pool } = scene;
      const without = new Retention(resolveOptions({ databaseUrl: scene.url, retentionIntervalMs: 0 }), pool);
      await scene.retention.round(HOUR_MS, HOUR_MS);
      const { resourceVersion } = await storage.create(key('a'), 'u', text(1));
      await scene.retire(without);
      await put(storage, key('a'), text(2));
      assert.deepEqual(await scene.asOf(resourceVersion), { a: [String(resourceVersion), 1] });
      await scene.owner.query(`update plinth.history_state set confirmed_at = confirmed_at - interval '2 hours'`);
      await without.round(HOUR_MS, HOUR_MS);
      await assert.rejects(scene.asOf(resourceVersion), { code: '22023' });
      const [size] = await scene.rows('select * from cluster.history_size()');
      assert.deepEqual([size?.retention, size?.partitions], [null, '0']);
      const left = await scene.rows(`select from pg_class where relname ~ '^history_[0-9]+$'`);
      assert.equal(left.length, 0);
    }));

  it('begins anew after a partition of the log that was dropped without a copy', () =>
    HistoryScene.use(server, async (scene) => {
      const { storage } = scene;
      await scene.retention.round(HOUR_MS, HOUR_MS);
      const lost = await storage.create(key('a'), 'u', text(1));
      await scene.retention.round(HOUR_MS, 0);
      await scene.rows(`select * from plinth.keep_changes('0', '1 hour', 3)`);
      const [partition] = await scene.rows<{ lower: string }>(
        'select min(lower) as lower from plinth.change_partitions',
      );
      // Drops the partition as a release without history does.
      await scene.owner.query(`alter table plinth.changes detach partition plinth.changes_${partition?.lower}`);
      await scene.owner.query(`drop table plinth.changes_${partition?.lower}`);
      await scene.owner.query('delete from plinth.change_partitions where lower = $1', [partition?.lower]);
      await scene.retention.round(HOUR_MS, HOUR_MS);
      await assert.rejects(scene.asOf(lost.resourceVersion), { code: '22023' });
      const next = await update(storage, 'a', 2);
      await scene.retire();
      await put(storage, key('a'), text(3));
      assert.deepEqual(await scene.asOf(next.resourceVersion), { a: [String(next.resourceVersion), 2] });
    }));

  it('leaves out resources, and takes them in again from then on', () =>
    HistoryScene.use(server, async (scene) => {
      const { storage } = scene;
      await scene.retention.round(HOUR_MS, HOUR_MS);
      const lease = await storage.create(key('l', 'leases'), 'u', text(1));
      await put(storage, key('l', 'leases'), text(2));
      await scene.retire();
      const [copied] = await scene.rows('select count(*)::int as count from plinth.history');
      assert.equal(copied?.count, 0);
      await assert.rejects(scene.asOf(lease.resourceVersion, 'leases'), { code: '22023' });
      const again = await update(storage, 'l', 3, 'leases');
      const options = resolveOptions({ databaseUrl: scene.url, retentionIntervalMs: 0, historyRetentionMs: HOUR_MS });
      const all = new Retention(options, scene.pool);
      await scene.retire(all);
      await put(storage, key('l', 'leases'), text(4));
      assert.deepEqual(await scene.asOf(again.resourceVersion, 'leases'), { l: [String(again.resourceVersion), 3] });
      await assert.rejects(scene.asOf(lease.resourceVersion, 'leases'), { code: '22023' });
    }));

  it('finds versions by time, in every form', () =>
    HistoryScene.use(server, async (scene) => {
      const { storage } = scene;
      await scene.retention.round(HOUR_MS, HOUR_MS);
      const versions: bigint[] = [];
      for (let i = 0; i < 4; i++) {
        const made = i === 0 ? storage.create(key('a'), 'u', text(i)) : update(storage, 'a', i);
        versions.push((await made).resourceVersion);
        if (i === 1) await scene.retire();
      }
      const times = await scene.rows<{ at: Date; next: string }>(
        `select at, (at + interval '1 microsecond')::text as next from cluster.history('things', 'default', 'a') where verb <> 'existing' order by version`,
      );
      for (const [i, { next }] of times.entries()) {
        assert.deepEqual(await scene.asOf(next), { a: [String(versions[i]), i] }, `change ${i}`);
      }
      assert.deepEqual(await scene.asOf(` ${versions[2]} `), { a: [String(versions[2]), 2] });
      assert.deepEqual(await scene.asOf('now'), { a: [String(versions[3]), 3] });
      for (const moment of ['1h ago', '2 days ago', '3000-01-01', '1d 12h-ago', '1990-01-01', '0']) {
        await assert.rejects(scene.asOf(moment), { code: '22023' }, moment);
      }
      const [same] = await scene.rows('select count(*)::int as count from cluster.as_of($1, now())', ['things']);
      assert.equal(same?.count, 1);
    }));

  it('names who wrote, not who lost fields to another writer', () =>
    HistoryScene.use(server, async ({ owner }) => {
      const object = (...managedFields: readonly object[]) => JSON.stringify({ metadata: { managedFields } });
      const at = (minute: number) => `2026-01-01T10:0${minute}:00Z`;
      const applied = (fields: object) => ({ manager: 'apply', operation: 'Apply', time: at(1), fieldsV1: fields });
      const edited = { manager: 'edit', operation: 'Update', time: at(2), fieldsV1: { a: {} } };
      // The API gives the entry of a writer who scales no time.
      const scaled = { manager: 'scale', operation: 'Update', subresource: 'scale', fieldsV1: { replicas: {} } };
      const cases = [
        [object(applied({ a: {}, replicas: {} })), object(scaled, applied({ a: {} })), 'scale'],
        [object(applied({ a: {} })), object(edited, applied({})), 'edit'],
        [object(scaled, edited), object(scaled, { ...edited, time: at(3) }), 'edit'],
        [object(scaled), object(scaled), null],
        [null, object(applied({}), edited), 'edit'],
        ['{}', '{"metadata":{"managedFields":5}}', null],
      ] as const;
      for (const [before, after, manager] of cases) {
        const { rows } = await owner.query('select plinth.field_manager($1, $2) as manager', [before, after]);
        assert.deepEqual(rows, [{ manager }], after);
      }
    }));

  it('shows what happened to an object, by whom, and what changed', () =>
    HistoryScene.use(server, async (scene) => {
      const { storage, owner } = scene;
      await storage.create(key('a'), 'u', text({ replicas: 1 }));
      await scene.retire(new Retention(resolveOptions({ databaseUrl: scene.url, retentionIntervalMs: 0 }), scene.pool));
      await scene.retention.round(HOUR_MS, HOUR_MS);
      const written = text({ replicas: 3, list: [{ name: 'x', v: 1 }] }, 'kubectl');
      const { object: changed } = await put(storage, key('a'), written);
      await put(storage, key('a'), text({ replicas: 3, list: [{ name: 'y' }, { name: 'x', v: 2 }] }, 'helm'));
      await scene.retire();
      await remove(storage, key('a'));
      await owner.query('select plinth.add_audit_partitions(current_date - 1, current_date + 1)');
      await owner.query(
        `insert into plinth.audit_events (at, received_at, audit_id, level, stage, verb, request_uri, username, resource,
           namespace, name, resource_versions, event)
         values (clock_timestamp(), clock_timestamp(), 'x', 'Metadata', 'ResponseComplete', 'patch', '/', 'alice', 'things',
           'default', 'a', $1, '{}')`,
        [[String(changed.resourceVersion)]],
      );
      const rows = await scene.rows(
        `select verb, manager, username, diff from cluster.history('things', 'default', 'a')`,
      );
      assert.deepEqual(rows, [
        { verb: 'existing', manager: null, username: null, diff: [] },
        {
          verb: 'updated',
          manager: 'kubectl',
          username: 'alice',
          diff: [
            { op: 'add', path: 'spec.list', to: [{ name: 'x', v: 1 }] },
            { op: 'replace', path: 'spec.replicas', from: 1, to: 3 },
          ],
        },
        {
          verb: 'updated',
          manager: 'helm',
          username: null,
          diff: [
            { op: 'add', path: 'spec.list[name=y]', to: { name: 'y' } },
            { op: 'replace', path: 'spec.list[name=x].v', from: 1, to: 2 },
          ],
        },
        { verb: 'deleted', manager: null, username: null, diff: [] },
      ]);
      const never = await scene.rows(`select * from cluster.history('things', 'default', 'none')`);
      assert.deepEqual(never, []);
    }));

  it('names very many changes in an object, of long keys and of depth, and answers about the others', () =>
    HistoryScene.use(server, async (scene) => {
      const { storage, owner } = scene;
      const many = (value: number) => Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, value]));
      const spread = (value: number) =>
        Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`k${i}`, Array(60).fill(value)]));
      const deep = (value: number) => JSON.parse(`${'{"a":'.repeat(900)}${value}${'}'.repeat(900)}`) as object;
      const objects: Readonly<Record<string, (value: number) => unknown>> = {
        many,
        spread,
        deep,
        lists: (value) => JSON.parse(`${'['.repeat(900)}${value}${']'.repeat(900)}`) as unknown,
        long: (value) => ({ ['x'.repeat(100_000)]: many(value), ['y'.repeat(100_000)]: spread(value) }),
        elements: (value) => Array.from({ length: 10_000 }, (_, i) => ({ name: `e${i}`, value })),
        places: (value) => Array.from({ length: 10_000 }, () => value),
        few: (value) => Object.fromEntries(Object.keys(many(1)).map((name, i) => [name, i < 900 ? value : 0])),
      };
      for (const [name, made] of Object.entries(objects)) await storage.create(key(name), name, text(made(1)));
      const from = await storage.head();
      for (const [name, made] of Object.entries(objects)) await put(storage, key(name), text(made(2)));
      await owner.query(`set statement_timeout = '30s'`);
      const rows = await scene.rows<{ name: string; diff: { op: string; path: string; from: unknown; to: unknown }[] }>(
        'select name, diff from cluster.changes_between($1::bigint, $2::bigint)',
        [from, await storage.head()],
      );
      const diffs = Object.fromEntries(rows.map(({ name, diff }) => [name, diff]));
      for (const name of ['many', 'spread', 'elements', 'places']) {
        const made = objects[name] as (value: number) => unknown;
        assert.deepEqual(diffs[name], [{ op: 'replace', path: 'spec', from: made(1), to: made(2) }], name);
      }
      assert.equal(diffs.few?.length, 900);
      assert.equal(diffs.deep?.[0]?.path, `spec${'.a'.repeat(63)}`);
      assert.equal(diffs.lists?.[0]?.path, `spec${'[0]'.repeat(63)}`);
      assert.ok(diffs.long?.every(({ path }) => path.length < 1000));
      const [last] = await scene.rows(
        `select diff from cluster.history('things', 'default', 'deep') where verb = 'updated'`,
      );
      assert.ok(Array.isArray(last?.diff));
      assert.equal(last.diff.length, 1);
    }));

  it('shows what changed between two versions', () =>
    HistoryScene.use(server, async (scene) => {
      const { storage } = scene;
      for (const name of ['gone', 'kept', 'replaced', 'same']) await storage.create(key(name), name, text(1));
      await storage.create(key('o', 'others', 'shop'), 'o', text(1));
      const from = await storage.head();
      await scene.retention.round(HOUR_MS, HOUR_MS);
      await put(storage, key('kept'), text(2));
      await put(storage, key('kept'), text(3));
      await scene.retire();
      await put(storage, key('o', 'others', 'shop'), text(2));
      await remove(storage, key('gone'));
      await remove(storage, key('replaced'));
      await storage.create(key('replaced'), 'other', text(1));
      await storage.create(key('new'), 'new', text(1));
      await storage.create(key('passing'), 'passing', text(1));
      await remove(storage, key('passing'));
      const sql = `select resource, namespace, name, verb, changes::int, diff from cluster.changes_between($1::bigint, $2::bigint, $3, $4)`;
      const to = await storage.head();
      const rows = await scene.rows(sql, [from, to, null, null]);
      assert.deepEqual(
        rows.map(({ resource, name, verb, changes }) => [resource, name, verb, changes]),
        [
          ['things', 'kept', 'updated', 2],
          ['others', 'o', 'updated', 1],
          ['things', 'gone', 'deleted', 1],
          ['things', 'replaced', 'replaced', 2],
          ['things', 'new', 'created', 1],
          ['things', 'passing', 'passing', 2],
        ],
      );
      assert.deepEqual(rows[0]?.diff, [{ op: 'replace', path: 'spec', from: 1, to: 3 }]);
      assert.deepEqual((await scene.rows(sql, [from, to, 'others', null])).length, 1);
      assert.deepEqual((await scene.rows(sql, [from, to, null, 'shop'])).length, 1);
      assert.deepEqual(await scene.rows(sql, [to, to, null, null]), []);
    }));

  it('shows one object, one name and those with labels, as the whole shows them', () =>
    HistoryScene.use(server, async (scene) => {
      const { storage } = scene;
      const labelled = (labels: object, value: unknown) => JSON.stringify({ metadata: { labels }, spec: value });
      await storage.create(key('a'), 'u1', labelled({ app: 'web', tier: 'x' }, 1));
      await storage.create(key('a', 'things', 'shop'), 'u2', labelled({ app: 'web' }, 2));
      await storage.create(key('ab', 'things', 'shop'), 'u3', labelled({ app: 'db' }, { app: 'web' }));
      await storage.create(key('escaped', 'things', 'shop'), 'u4', '{"metadata":{"labels":{"app":"\\u0077eb"}}}');
      await storage.create(key('plain', 'things', ''), 'u5', '{"metadata":{}}');
      const at = await storage.head();
      await scene.retention.round(HOUR_MS, HOUR_MS);
      await put(storage, key('a', 'things', 'shop'), labelled({ app: 'other' }, 3));
      await scene.retire();
      await remove(storage, key('a'));
      const sql = `select coalesce(namespace, '-') || '/' || name as name from cluster.as_of('things', $1::bigint, $2, $3, $4) order by 1`;
      const shown = async (...filter: readonly (string | null)[]) =>
        (await scene.rows<{ name: string }>(sql, [at, ...filter])).map(({ name }) => name);
      assert.deepEqual(await shown('shop', 'a', null), ['shop/a']);
      assert.deepEqual(await shown(null, 'a', null), ['default/a', 'shop/a']);
      assert.deepEqual(await shown('', 'plain', null), ['-/plain']);
      assert.deepEqual(await shown('', null, null), ['-/plain']);
      assert.deepEqual(await shown(null, null, '{"app": "web"}'), ['default/a', 'shop/a', 'shop/escaped']);
      assert.deepEqual(await shown('default', null, '{"app": "web", "tier": "x"}'), ['default/a']);
      assert.deepEqual(await shown('shop', null, '{"app": "web", "tier": "x"}'), []);
      assert.equal((await shown(null, null, '{}')).length, 4);
      for (const odd of ['[]', '"web"', '{"app": 1}', '{"app": null}']) {
        assert.deepEqual(await shown(null, null, odd), [], odd);
      }
      const changed = await scene.rows(
        `select name, verb from cluster.changes_between($1::bigint, $2::bigint, 'things', null, 'a') order by version`,
        [at, await storage.head()],
      );
      assert.deepEqual(changed, [
        { name: 'a', verb: 'updated' },
        { name: 'a', verb: 'deleted' },
      ]);
    }));

  it('computes only what a query asks for', () =>
    HistoryScene.use(server, async (scene) => {
      await scene.storage.create(key('a'), 'u', text(1));
      const plan = async (sql: string) => JSON.stringify(await scene.rows(`explain verbose ${sql}`));
      const asOf = `from cluster.as_of('things', 'now') where namespace = 'default'`;
      assert.match(await plan(`select name, object ${asOf}`), /shown_object/);
      assert.doesNotMatch(await plan(`select name ${asOf}`), /shown_object|object_labels/);
      const between = `from cluster.changes_between('0', 'now') where verb = 'deleted'`;
      assert.match(await plan(`select name, diff ${between}`), /shown_diff/);
      assert.doesNotMatch(await plan(`select name ${between}`), /shown_diff|shown_object|field_manager/);
    }));

  it('can be read by a transaction with one snapshot, or tells it to start again', () =>
    HistoryScene.use(server, async (scene) => {
      const { storage, owner } = scene;
      await scene.retention.round(HOUR_MS, HOUR_MS);
      const { resourceVersion } = await storage.create(key('a'), 'u', text(1));
      await put(storage, key('a'), text(2));
      await owner.query('begin isolation level repeatable read');
      assert.deepEqual(await scene.asOf(resourceVersion), { a: [String(resourceVersion), 1] });
      await owner.query('rollback; begin isolation level repeatable read; select 1 from plinth.epoch');
      await scene.retire();
      await assert.rejects(scene.asOf(resourceVersion), { code: '40001' });
      await owner.query('rollback');
      assert.deepEqual(await scene.asOf(resourceVersion), { a: [String(resourceVersion), 1] });
    }));
});
