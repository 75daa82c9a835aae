import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import { HOUR_MS, key, text } from '../testing/history-helpers.js';
import { HistoryScene } from '../testing/history-scene.js';
import { put } from '../testing/storage-contract.js';
import { remove } from '../testing/storage-helpers.js';
import { readerFunctions, readerRole } from './reader-rights.js';

const denied = { code: '42501' };
let server: TestPostgres;
before(async () => {
  server = await startTestPostgres({ fsync: false });
});
after(() => server.stop());

describe('a reader of the past', () => {
  it('sees no secret, no internal object and nothing of a view that was not granted', () =>
    HistoryScene.use(server, async (scene) => {
      const { storage, owner, url } = scene;
      await owner.query(`do $$ begin
        if not exists (select from pg_roles where rolname = 'paula') then create role paula login; end if;
        if not exists (select from pg_roles where rolname = 'bob') then create role bob login; end if; end $$`);
      await owner.query(
        `grant ${readerRole} to paula; grant usage on schema cluster to bob; grant select on cluster.things to bob;
         grant execute on function ${readerFunctions.join(', ')} to bob`,
      );
      const secret = (value: string) =>
        JSON.stringify({
          kind: 'Secret',
          metadata: { annotations: { 'x/last-applied-configuration': `{"data":"${value}"}` } },
          data: { password: value },
          stringData: { other: value },
        });
      const values = ['c2VjcmV0LW9uZQ', 'c2VjcmV0LXR3bw'];
      await storage.create(key('s', 'secrets'), 'u', secret(values[0] ?? ''));
      await storage.create(key('sealed'), 'u', '"enc:v1:aesgcm:AAAA"');
      await storage.create(key('i', 'endeddefinitions.internal', ''), 'u', text('hidden'));
      const from = (await storage.create(key('a'), 'u', text(1))).resourceVersion;
      await scene.retention.round(HOUR_MS, HOUR_MS);
      await put(storage, key('s', 'secrets'), secret(values[1] ?? ''));
      await scene.retire();
      await put(storage, key('a'), text(2));
      await remove(storage, key('s', 'secrets'));
      const to = await storage.head();
      const connect = async (user: string) => {
        const client = new pg.Client({ connectionString: url.replace('postgres@', `${user}@`) });
        await client.connect();
        return client;
      };
      const paula = await connect('paula');
      const bob = await connect('bob');
      try {
        for (const sql of [
          `select * from cluster.as_of('secrets', ${from})`,
          `select * from cluster.as_of('secrets', ${to - 1n})`,
          `select * from cluster.history('secrets', 'default', 's')`,
          `select * from cluster.changes_between(${from}, ${to})`,
          `select * from cluster.changes_between(${from}, ${to}, 'secrets')`,
        ]) {
          const { rows } = await paula.query(sql);
          assert.ok(rows.length > 0, sql);
          const answer = JSON.stringify(rows);
          for (const value of values) assert.ok(!answer.includes(value), `${sql} shows a secret`);
          assert.ok(!answer.includes('enc:'), sql);
        }
        const [updated] = (
          await paula.query(`select diff from cluster.history('secrets', 'default', 's') where verb = 'updated'`)
        ).rows;
        assert.deepEqual(updated.diff, [{ op: 'replace', path: 'data', from: '(hidden)', to: '(hidden)' }]);
        const { rows: sealed } = await paula.query(
          `select object from cluster.as_of('things', ${from}) where name = 'sealed'`,
        );
        assert.deepEqual(sealed, [{ object: null }]);
        await assert.rejects(paula.query(`select * from cluster.as_of('endeddefinitions.internal', ${from})`), {
          code: '42704',
        });
        // A reader can't reach tables and inner functions, not even with a search path and functions of its own.
        for (const sql of [
          'select * from plinth.history',
          'select * from plinth.history_state',
          `select * from plinth.past_page('secrets', '', '', 'z', '', null, ${from}, null)`,
          `select * from plinth.key_changes('secrets', 'default', 's')`,
          `select plinth.copy_to_history(0)`,
          `select * from plinth.keep_history('0', '{}')`,
          'do $$ begin lock table plinth.lock_history in exclusive mode; end $$',
        ]) {
          await assert.rejects(paula.query(sql), denied, sql);
        }
        await paula.query(
          `create function pg_temp.safe_jsonb(json) returns jsonb language sql as 'select null::jsonb'`,
        );
        await paula.query('set search_path = pg_temp, cluster, pg_catalog');
        assert.ok(
          (await paula.query(`select object from as_of('things', ${from}) where name = 'a'`)).rows[0].object !== null,
        );
        await paula.query('reset search_path');
        // `bob` may read only one view.
        await assert.rejects(bob.query(`select * from cluster.as_of('secrets', ${from})`), denied);
        await assert.rejects(bob.query(`select * from cluster.history('others', 'default', 's')`), denied);
        await assert.rejects(bob.query(`select * from cluster.changes_between(${from}, ${to}, 'secrets')`), denied);
        const { rows: his } = await bob.query(`select distinct resource from cluster.changes_between(${from}, ${to})`);
        assert.deepEqual(his, [{ resource: 'things' }]);
        // After `set role`, the rights of that role count, not those of the login.
        await owner.query('set role bob');
        await assert.rejects(owner.query(`select * from cluster.as_of('secrets', ${from})`), denied);
        await owner.query('reset role');
      } finally {
        await paula.end();
        await bob.end();
      }
    }));

  it('learns nothing about a secret from how long a question takes', () =>
    HistoryScene.use(server, async (scene) => {
      const { storage, owner } = scene;
      const value = 'c2VjcmV0LW9uZQ==';
      const json = JSON.stringify({ kind: 'Secret', metadata: { labels: { app: 'web' } }, data: { password: value } });
      await storage.create(key('s', 'secrets'), 'u', json);
      const head = await storage.head();
      const calls = async () => {
        const sql = `select pg_stat_get_xact_function_calls('plinth.safe_jsonb(json)'::regprocedure)::int as calls`;
        return (await owner.query<{ calls: number | null }>(sql)).rows[0]?.calls ?? 0;
      };
      const effort = async (guess: string): Promise<number> => {
        await owner.query(`begin; set local track_functions = 'all'`);
        const before = await calls();
        const sql = `select from cluster.as_of('secrets', $1::bigint, 'default', 's', $2)`;
        assert.equal((await owner.query(sql, [head, { app: guess }])).rowCount, guess === 'web' ? 1 : 0);
        const made = (await calls()) - before;
        await owner.query('rollback');
        return made;
      };
      assert.equal(await effort(value), await effort('c2VjcmV0LXR3bw=='));
    }));

  it('gets nowhere by names, namespaces and times that are no such', () =>
    HistoryScene.use(server, async (scene) => {
      const { storage } = scene;
      await storage.create(key('a'), 'u', text(1));
      const head = await storage.head();
      const attacks = [
        `things'; drop table plinth.history; --`,
        `things" union select * from plinth.objects --`,
        `$$; select 1; $$`,
        '\\',
        `'||(select data from plinth.objects limit 1)||'`,
        '%I',
        '',
        'a'.repeat(100_000),
      ];
      for (const attack of attacks) {
        await assert.rejects(scene.rows('select * from cluster.as_of($1, $2::bigint)', [attack, head]), {
          code: '42704',
        });
        await assert.rejects(scene.rows('select * from cluster.history($1, $1, $1)', [attack]), { code: '42704' });
        assert.deepEqual(await scene.rows(`select * from cluster.history('things', $1, $1)`, [attack]), []);
        assert.deepEqual(await scene.rows(`select * from cluster.as_of('things', $2::bigint, $1)`, [attack, head]), []);
        assert.deepEqual(
          await scene.rows(`select * from cluster.changes_between($2::bigint, $2::bigint, null, $1)`, [attack, head]),
          [],
        );
        await assert.rejects(scene.rows(`select * from cluster.as_of('things', $1::text)`, [attack]), {
          code: /^22/,
        });
      }
      for (const moment of [
        '999999999999999999999',
        '1 ago',
        '99999999y ago',
        '-1',
        'infinity',
        '-infinity',
        'now() - 1',
      ]) {
        await assert.rejects(scene.rows(`select * from cluster.as_of('things', $1::text)`, [moment]), (error) => {
          assert.match((error as pg.DatabaseError).code ?? '', /^22/, moment);
          return true;
        });
      }
      for (const nothing of ['null::bigint', 'null::text', 'null::timestamptz']) {
        await assert.rejects(scene.rows(`select * from cluster.as_of('things', ${nothing})`), { code: '22004' });
      }
      assert.equal((await scene.rows('select from plinth.objects')).length, 1);
    }));
});
