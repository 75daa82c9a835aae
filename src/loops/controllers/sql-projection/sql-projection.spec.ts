import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '../../../../test/e2e/support/test-cluster.js';
import { sqlProjectionMode } from '../../../base/config/sql-projection.js';
import { put, remove } from '../../../storage/testing/storage-helpers.js';
import { syncViews } from '../sql-views/sync-views.js';
import { keyOf, podText, quiet, RowScene as Scene, suffix, things } from './testing/row-scene.js';

function withStatus(text: string, phase: string): string {
  return JSON.stringify({ ...JSON.parse(text), status: { conditions: [{ reason: phase }] } });
}

describe('rows behind the SQL views', () => {
  it('show what was there and what changes, with columns to filter by', () =>
    Scene.use(async (scene) => {
      const { storage } = scene;
      await storage.create(keyOf('old'), 'u1', podText({ phase: 'Pending' }));
      scene.run();
      await scene.caughtUp();
      await storage.create(keyOf('new'), 'u2', podText({ node: 'n2', labels: { app: 'db' } }));
      await put(storage, keyOf('old'), podText({ phase: 'Succeeded' }));
      await scene.caughtUp();
      assert.deepEqual(await scene.shown(), await scene.stored());
      const [row] = await scene.rows(
        `select namespace, phase, node, owner, images, labels, created_at, deleted_at, spec ->> 'nodeName' as by_spec,
           object #>> '{metadata,resourceVersion}' = resource_version::text as same
         from cluster.pods where labels @> '{"app": "db"}'`,
      );
      assert.deepEqual(row, {
        namespace: 'default',
        phase: 'Running',
        node: 'n2',
        owner: 'ReplicaSet/web-1',
        images: ['img:1', 'init:1'],
        labels: { app: 'db' },
        created_at: new Date('2026-01-02T03:04:05Z'),
        deleted_at: null,
        by_spec: 'n2',
        same: true,
      });
      await remove(storage, keyOf('new'));
      await scene.caughtUp();
      assert.deepEqual(await scene.shown(), await scene.stored());
      const [lag] = await scene.rows('select position >= head as caught, behind from cluster.lag()');
      assert.equal(lag?.caught, true);
    }));

  it('have the same columns as the views over the objects', () =>
    Scene.use(async (scene) => {
      const columns = (view: string) =>
        scene.rows(`select attname, atttypid::regtype::text as type from pg_attribute
          where attrelid = 'cluster.${view}'::regclass and attnum > 0 and not attisdropped order by attnum`);
      await syncViews(scene.url, scene.definitions, suffix, sqlProjectionMode('views', []), quiet);
      const before = [await columns('pods'), await columns('secrets')];
      scene.run();
      await scene.caughtUp();
      await scene.caughtUp('secrets');
      assert.deepEqual([await columns('pods'), await columns('secrets')], before);
    }));

  it('never hold the values of secrets', () =>
    Scene.use(async (scene) => {
      const value = 'c3VwZXItc2VjcmV0';
      const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': `{"data":"${value}"}` };
      const json = JSON.stringify({
        kind: 'Secret',
        metadata: { annotations },
        data: { b: value, a: value },
        type: 'Opaque',
      });
      await scene.storage.create(keyOf('before', 'secrets'), 'u1', json);
      scene.run();
      await scene.caughtUp('secrets');
      await scene.storage.create(keyOf('after', 'secrets'), 'u2', json);
      await scene.caughtUp('secrets');
      const [{ table_name } = { table_name: '' }] = await scene.rows(
        `select table_name from plinth.projected_tables where resource = 'secrets'`,
      );
      const rows = await scene.rows(`select * from plinth."${table_name}"`);
      assert.equal(rows.length, 2);
      assert.ok(!JSON.stringify(rows).includes(value));
      assert.deepEqual(
        (await scene.rows('select name, type, data_keys from cluster.secrets order by name')).map(Object.values),
        [
          ['after', 'Opaque', ['a', 'b']],
          ['before', 'Opaque', ['a', 'b']],
        ],
      );
    }));

  it('follow when processes die and fight, also while a table is filled', { timeout: 120_000 }, () =>
    Scene.use(async (scene) => {
      const { storage } = scene;
      let writing = true;
      const writer = (async () => {
        for (let i = 0; writing; i++) {
          const key = keyOf(`p${i % 40}`);
          if (i % 7 === 6) await remove(storage, key).catch(() => undefined);
          else {
            await storage.guaranteedUpdate(key, { ignoreNotFound: true }, (current) => ({
              kind: 'write',
              json: podText({ phase: `Phase${i}` }),
              uid: current?.uid ?? `u${i}`,
            }));
          }
        }
      })();
      for (let round = 0; round < 6; round++) {
        const pair = [scene.run(), scene.run()];
        await scene.caughtUp();
        // All connections of both processes end in the middle of their work.
        await scene.rows(`select pg_terminate_backend(pid) from pg_stat_activity
          where application_name = 'plinth projection' and datname = current_database()`);
        if (round % 2 === 1) await scene.rows('update plinth.projection set epoch = 0');
        await Promise.all(pair.map((one) => one.stop()));
      }
      writing = false;
      await writer;
      scene.run();
      await scene.caughtUp();
      assert.deepEqual(await scene.shown(), await scene.stored());
      // The last process may still fill a table of its own, and drops the other table then.
      await eventually(async () => {
        const [tables] = await scene.rows(`select count(*)::int as count from pg_class
          where relnamespace = 'plinth'::regnamespace and relkind = 'r' and relname like 'rows\\_pods%'`);
        return tables?.count === 1;
      }, 'the tables of those that died to be gone');
      assert.deepEqual(await scene.shown(), await scene.stored());
    }),
  );

  it('are filled again when the log does not reach back to them', () =>
    Scene.use(async (scene) => {
      const { storage } = scene;
      await storage.create(keyOf('a'), 'u1', podText());
      const first = scene.run();
      await scene.caughtUp();
      await first.stop();
      await storage.create(keyOf('b'), 'u2', podText());
      await remove(storage, keyOf('a'));
      await scene.rows('update plinth.retention set compact_revision = (select head from plinth.log_bounds())');
      scene.run();
      await scene.caughtUp();
      assert.deepEqual(await scene.shown(), await scene.stored());
    }));

  it('go on where the log goes on without a change', () =>
    Scene.use(async (scene) => {
      const { storage } = scene;
      await storage.create(keyOf('a'), 'u1', podText());
      scene.run();
      await scene.caughtUp();
      const table = `select table_name as name from plinth.projected_tables where resource = 'pods'`;
      const [before] = await scene.rows(table);
      for (let round = 0; round < 3; round++) {
        // The partition in use is closed; then the oldest readable version rises above its versions.
        await scene.rows(`select * from plinth.keep_changes('1 hour', '-1 second', 3)`);
        await scene.rows('select cluster.wait_for((select head from plinth.log_bounds()))');
        await scene.rows(`select * from plinth.keep_changes('0', '1 hour', 3)`);
      }
      await storage.create(keyOf('b'), 'u2', podText());
      await scene.caughtUp();
      assert.deepEqual(await scene.shown(), await scene.stored());
      assert.deepEqual(await scene.rows(table), [before]);
    }));

  it('are not held up by what jsonb can not hold', () =>
    Scene.use(async (scene) => {
      // Kinds without a copy of the object in their rows hold no such numbers.
      scene.run(['pods=indexed']);
      await scene.caughtUp();
      const long = 'x'.repeat(20_000);
      await Promise.all([
        scene.storage.create(keyOf('huge'), 'u1', '{"metadata":{},"n":1e999999}'),
        scene.storage.create(keyOf('nul'), 'u2', '{"metadata":{"labels":{"a":"\\u0000"}}}'),
        scene.storage.create(keyOf('odd'), 'u3', '{"metadata":[1],"spec":"x","status":7}'),
        scene.storage.create(
          keyOf('long'),
          'u4',
          JSON.stringify({
            metadata: { labels: { [long]: long }, ownerReferences: [{ controller: true, kind: long, name: long }] },
            spec: { nodeName: long, containers: [{ image: long }] },
            status: { phase: long },
          }),
        ),
        scene.storage.create(keyOf('fine'), 'u5', podText()),
      ]);
      await scene.caughtUp();
      const rows = await scene.rows('select name, object is null as missing from cluster.pods order by name');
      assert.deepEqual(rows.map(Object.values), [
        ['fine', false],
        ['huge', true],
        ['long', false],
        ['nul', false],
        ['odd', false],
      ]);
    }));

  it('leave indexes alone where a change leaves what is indexed', () =>
    Scene.use(async (scene) => {
      const labels = { app: 'web', long: 'x'.repeat(600) };
      const image = `registry.example.com/${'y'.repeat(500)}`;
      const write = (phase: string) => put(scene.storage, keyOf('a'), withStatus(podText({ labels, image }), phase));
      await scene.storage.create(keyOf('a'), 'u1', withStatus(podText({ labels, image }), 'one'));
      scene.run();
      await scene.caughtUp();
      for (const phase of ['two', 'three']) {
        await write(phase);
        await scene.caughtUp();
      }
      await eventually(async () => {
        const [row] = await scene.rows(`select n_tup_upd::int as all, n_tup_hot_upd::int as light
          from pg_stat_user_tables where relname like 'rows\\_pods%'`);
        return row?.all === 2 && row.light === 2;
      }, 'two updates without an index');
      assert.deepEqual(await scene.shown(), await scene.stored());
    }));

  it('find pods by any part of the spec, by images and by reasons', () =>
    Scene.use(async (scene) => {
      const waiting = { containerStatuses: [{ state: { waiting: { reason: 'CrashLoopBackOff' } } }] };
      const crashing = { ...JSON.parse(podText({ image: 'img:2' })), status: waiting };
      crashing.spec.hostNetwork = true;
      await scene.storage.create(keyOf('fine'), 'u1', podText());
      await scene.storage.create(keyOf('crashing'), 'u2', JSON.stringify(crashing));
      await scene.storage.create(
        keyOf('evicted'),
        'u3',
        '{"metadata":{"name":"evicted"},"status":{"reason":"Evicted"}}',
      );
      scene.run();
      await scene.caughtUp();
      const found = async (where: string) =>
        (await scene.rows(`select name from cluster.pods where ${where} order by 1`)).map(({ name }) => name);
      assert.deepEqual(await found(`spec @> '{"hostNetwork": true}'`), ['crashing']);
      assert.deepEqual(await found(`images @> '{img:2}'`), ['crashing']);
      assert.deepEqual(await found(`reasons @> '{CrashLoopBackOff}'`), ['crashing']);
      assert.deepEqual(await found(`reasons @> '{Evicted}'`), ['evicted']);
      assert.deepEqual(await found('spec is null'), ['evicted']);
      const plan = async (where: string) => {
        await scene.rows('set enable_seqscan = off; set enable_indexscan = off');
        return JSON.stringify(await scene.rows(`explain select name from cluster.pods where ${where}`));
      };
      assert.match(await plan(`spec @> '{"hostNetwork": true}'`), /parts_pods_\w+_spec_idx/);
      assert.match(await plan(`reasons @> '{Evicted}'`), /rows_pods_\w+_reasons_idx/);
      assert.match(await plan(`object @> '{"status": {"reason": "Evicted"}}'`), /Seq Scan/);
      await syncViews(scene.url, scene.definitions, suffix, sqlProjectionMode('views', []), quiet);
      assert.deepEqual(await found(`reasons @> '{CrashLoopBackOff}'`), ['crashing']);
    }));

  it('have an index on the whole object where that is asked for', () =>
    Scene.use(async (scene) => {
      await scene.storage.create(keyOf('a'), 'u1', podText());
      scene.run(['pods=indexed']);
      await scene.caughtUp();
      await put(scene.storage, keyOf('a'), podText({ phase: 'Failed' }));
      await scene.caughtUp();
      assert.deepEqual(await scene.shown(), await scene.stored());
      await scene.rows('set enable_seqscan = off');
      const plan = await scene.rows(`explain select from cluster.pods where object @> '{"status": {"phase": "x"}}'`);
      assert.match(JSON.stringify(plan), /_object_idx/);
    }));

  it('of the release before are kept up, and made anew', () =>
    Scene.use(async (scene) => {
      await scene.storage.create(keyOf('a'), 'u1', podText());
      const older = scene.run(['pods=indexed']);
      await scene.caughtUp();
      await older.stop();
      await scene.rows(
        `update plinth.projected_tables set digest = 'older', kept = default, stored = default, shown = default`,
      );
      await put(scene.storage, keyOf('a'), podText({ phase: 'Failed' }));
      await scene.storage.create(keyOf('b'), 'u2', podText());
      await scene.rows('select * from plinth.project_changes(10)');
      assert.deepEqual(await scene.shown(), await scene.stored());
      scene.run();
      await eventually(async () => {
        const rows = await scene.rows(`select to_regclass('plinth.' || table_name) is not null as made
          from plinth.projected_tables where resource = 'pods' and digest <> 'older'`);
        return rows[0]?.made === true;
      }, 'a new table');
      await scene.caughtUp();
      assert.deepEqual(await scene.shown(), await scene.stored());
    }));

  it('ask for no work while there is no table', () =>
    Scene.use(async (scene) => {
      await scene.storage.create(keyOf('a'), 'u1', podText());
      assert.deepEqual(await scene.rows('select outcome from plinth.project_changes(10)'), [{ outcome: 'idle' }]);
    }));

  it('come and go with kinds and with the mode of a resource', () =>
    Scene.use(async (scene) => {
      const first = scene.run(['secrets=views']);
      await scene.caughtUp();
      const tables = async () =>
        (await scene.rows('select resource from plinth.projected_tables order by 1')).map(({ resource }) => resource);
      assert.deepEqual(await tables(), ['pods']);
      await scene.storage.create(keyOf('t', 'things.example.com'), 'u', podText());
      scene.definitions.push(things);
      scene.change();
      await scene.caughtUp('things');
      assert.deepEqual(await scene.shown('things'), await scene.stored('things.example.com'));
      scene.definitions.pop();
      scene.change();
      await eventually(async () => (await tables()).join() === 'pods', 'the table is gone');
      await first.stop();
      await syncViews(scene.url, scene.definitions, suffix, sqlProjectionMode('views', ['secrets=off']), quiet);
      const [views] = await scene.rows(`select to_regclass('cluster.secrets') as secrets,
        pg_get_viewdef('cluster.pods'::regclass) like '%plinth.objects%' as plain`);
      assert.deepEqual(views, { secrets: null, plain: true });
    }));

  it('give readers the views, the lag and nothing else', () =>
    Scene.use(async (scene) => {
      await scene.storage.create(keyOf('a'), 'u1', podText());
      scene.run();
      await scene.caughtUp();
      await scene.rows('set role plinth_reader');
      assert.equal((await scene.rows('select * from cluster.pods')).length, 1);
      await scene.rows('select * from cluster.lag(); select cluster.wait_for(0)');
      await assert.rejects(scene.rows(`select cluster.wait_for(999999999, '50 ms')`), { code: '57014' });
      const [{ table_name } = { table_name: '' }] = await (async () => {
        await scene.rows('reset role');
        const found = await scene.rows(`select table_name from plinth.projected_tables where resource = 'pods'`);
        await scene.rows('set role plinth_reader');
        return found;
      })();
      for (const sql of [
        `select * from plinth."${table_name}"`,
        'select * from plinth.projection',
        'select plinth.project_changes(1)',
        'delete from cluster.secrets',
      ]) {
        await assert.rejects(scene.rows(sql), { code: '42501' }, sql);
      }
      // A view of two tables can't be written to by anybody.
      await assert.rejects(scene.rows('delete from cluster.pods'), { code: '55000' });
      await scene.rows('reset role');
    }));
});
