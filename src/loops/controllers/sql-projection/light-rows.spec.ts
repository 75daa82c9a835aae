import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sqlProjectionMode } from '../../../base/config/sql-projection.js';
import { put, remove } from '../../../storage/testing/storage-helpers.js';
import { syncViews } from '../sql-views/sync-views.js';
import { keyOf, quiet, RowScene, suffix } from './testing/row-scene.js';

interface ManagedPod {
  readonly at?: number;
  readonly app?: string;
  readonly annotation?: string;
  readonly node?: string;
  readonly phase?: string;
  readonly restarts?: number;
  readonly condition?: string;
  readonly reason?: string | undefined;
}

/** A pod as servers store it: with managed fields, which change with every write. */
function managedPod(parts: ManagedPod = {}): string {
  const { at = 0, app = 'web', annotation = 'x', node = 'n1', phase = 'Running' } = parts;
  const { restarts = 0, condition = 'True', reason } = parts;
  return JSON.stringify({
    kind: 'Pod',
    metadata: {
      labels: { app },
      annotations: { note: annotation },
      creationTimestamp: '2026-01-02T03:04:05Z',
      managedFields: [{ manager: 'agent', time: `${at}`, fieldsV1: { 'f:status': { 'k:{"type":"Ready"}': {} } } }],
    },
    spec: { nodeName: node, containers: [{ image: `img:${node}` }] },
    status: {
      phase,
      conditions: [{ type: 'Ready', status: condition, reason: `Because${condition}` }],
      containerStatuses: [{ restartCount: restarts, state: reason === undefined ? {} : { waiting: { reason } } }],
    },
  });
}

describe('rows without a copy of their objects', () => {
  it('stay as they are at a heartbeat, and show the newest state', () =>
    RowScene.use(async (scene) => {
      await scene.storage.create(keyOf('a'), 'u1', managedPod());
      await scene.storage.create(keyOf('b'), 'u2', managedPod());
      scene.run();
      await scene.caughtUp();
      for (let at = 1; at <= 20; at++) await put(scene.storage, keyOf('a'), managedPod({ at, restarts: at }));
      await scene.caughtUp();
      assert.deepEqual(await scene.shown(), await scene.stored());
      const [own] = await scene.rows(`select count(*)::int as count from plinth.changes where quiet = 1`);
      assert.equal(own?.count, 20);
      const [pods] = await scene.rows(`select table_name as name from plinth.projected_tables where resource = 'pods'`);
      const before = await scene.rows(`select ctid::text from plinth."${pods?.name}" where name = 'a'`);
      await put(scene.storage, keyOf('a'), managedPod({ at: 21, restarts: 21 }));
      await scene.caughtUp();
      assert.deepEqual(await scene.rows(`select ctid::text from plinth."${pods?.name}" where name = 'a'`), before);
      await put(scene.storage, keyOf('a'), managedPod({ at: 22, restarts: 22, reason: 'CrashLoopBackOff' }));
      await scene.caughtUp();
      const crashing = `select name from cluster.pods where reasons @> '{CrashLoopBackOff}'`;
      assert.deepEqual(await scene.rows(crashing), [{ name: 'a' }]);
      assert.deepEqual(await scene.shown(), await scene.stored());
    }));

  it('show one state in all columns while they are behind', () =>
    RowScene.use(async (scene) => {
      const { storage } = scene;
      for (const name of ['changed', 'often', 'beating', 'gone', 'remade', 'still']) {
        await storage.create(keyOf(name), `u-${name}`, managedPod());
      }
      const loop = scene.run();
      await scene.caughtUp();
      await put(storage, keyOf('beating'), managedPod({ at: 1, restarts: 1 }));
      await scene.caughtUp();
      await loop.stop();
      const columns = `select name, uid, resource_version::int, phase, node, labels, annotations, spec, status, object
        from cluster.pods order by name`;
      const before = await scene.rows(columns);
      assert.equal(before.length, 6);
      await put(storage, keyOf('changed'), managedPod({ at: 2, phase: 'Failed', annotation: 'y' }));
      await put(storage, keyOf('often'), managedPod({ at: 3, restarts: 3 }));
      await put(storage, keyOf('often'), managedPod({ at: 4, restarts: 4, node: 'n2' }));
      await put(storage, keyOf('beating'), managedPod({ at: 5, restarts: 5 }));
      await remove(storage, keyOf('gone'));
      await remove(storage, keyOf('remade'));
      await storage.create(keyOf('remade'), 'u-other', managedPod({ at: 6, phase: 'Pending' }));
      await storage.create(keyOf('new'), 'u-new', managedPod());
      assert.deepEqual(await scene.rows(columns), before);
      scene.run();
      await scene.caughtUp();
      assert.deepEqual(await scene.shown(), await scene.stored());
      const [changed] = await scene.rows(`select phase, annotations from cluster.pods where name = 'changed'`);
      assert.deepEqual(changed, { phase: 'Failed', annotations: { note: 'y' } });
    }));

  it('leave the spec and its index alone where something else changes', () =>
    RowScene.use(async (scene) => {
      const { storage } = scene;
      for (const name of ['a', 'b', 'c']) await storage.create(keyOf(name), `u-${name}`, managedPod());
      scene.run();
      await scene.caughtUp();
      const [tables] = await scene.rows(
        `select table_name as rows, apart_table as parts from plinth.projected_tables where resource = 'pods'`,
      );
      const places = () => scene.rows(`select name, ctid::text from plinth."${tables?.parts}" order by name`);
      const before = await places();
      assert.equal(before.length, 3);
      await put(storage, keyOf('a'), managedPod({ at: 1, phase: 'Failed', app: 'db', reason: 'Error' }));
      await scene.caughtUp();
      assert.deepEqual(await places(), before);
      await put(storage, keyOf('a'), managedPod({ at: 2, node: 'n2' }));
      await remove(storage, keyOf('b'));
      await storage.create(keyOf('d'), 'u-d', managedPod({ node: 'n4' }));
      await scene.caughtUp();
      assert.deepEqual(await scene.shown(), await scene.stored());
      const found = await scene.rows(`select name from cluster.pods where spec @> '{"nodeName": "n2"}'`);
      assert.deepEqual(found, [{ name: 'a' }]);
      const keys = (table: unknown) => scene.rows(`select namespace, name from plinth."${table}" order by name`);
      assert.deepEqual(await keys(tables?.parts), await keys(tables?.rows));
    }));

  it('are read without the spec by queries that need nothing of it', () =>
    RowScene.use(async (scene) => {
      await scene.storage.create(keyOf('a'), 'u1', managedPod());
      scene.run();
      await scene.caughtUp();
      await scene.rows('set enable_seqscan = off; set enable_indexscan = off');
      const plan = async (query: string) => JSON.stringify(await scene.rows(`explain ${query}`));
      const phases = await plan('select phase, count(*) from cluster.pods group by phase');
      assert.doesNotMatch(phases, /parts_pods/);
      const hosts = await plan(`select name from cluster.pods where spec @> '{"hostNetwork": true}'`);
      assert.match(hosts, /Bitmap Index Scan on parts_pods\w*spec/);
    }));

  it('are made without a call for each text', () =>
    RowScene.use(async (scene) => {
      for (const version of ['null', 't.version']) {
        const plan = await scene.rows(`explain verbose select plinth.row_object(t.data, ${version})
          from (select '{}'::text as data, 7::bigint as version offset 0) t`);
        assert.doesNotMatch(JSON.stringify(plan), /row_object/);
      }
    }));

  it('are made of the changes since the last ones, without a look at those before', () =>
    RowScene.use(async (scene) => {
      await scene.storage.create(keyOf('a'), 'u1', managedPod());
      const loop = scene.run();
      await scene.caughtUp();
      await loop.stop();
      await put(scene.storage, keyOf('a'), managedPod({ at: 1, phase: 'Failed' }));
      await scene.rows('select plinth.project_changes(10)');
      const [kept] = await scene.rows(`select name from pg_prepared_statements where name like 'rows%'`);
      await scene.rows('set enable_seqscan = off');
      const plan = JSON.stringify(await scene.rows(`explain execute "${kept?.name}" (1, 2, 'pods', 1)`));
      assert.match(plan, /Index Cond: \(\(resource_version >/);
      assert.doesNotMatch(plan, /changes_\w*by_key|changes_\w*resource_namespace/);
    }));

  it('let queries run in parallel', () =>
    RowScene.use(async (scene) => {
      await scene.storage.create(keyOf('a'), 'u1', managedPod());
      scene.run();
      await scene.caughtUp();
      // The setting of PostgreSQL that uses a worker wherever it may; its name depends on the version.
      await scene.rows(`select set_config(name, 'on', false) from pg_settings
        where name in ('debug_parallel_query', 'force_parallel_mode')`);
      const plan = await scene.rows(
        'explain select image, count(*) from cluster.pods, unnest(images) image group by 1',
      );
      assert.match(JSON.stringify(plan), /Gather/);
    }));

  it('have the columns that the objects give, after random changes', { timeout: 120_000 }, () =>
    RowScene.use(async (scene) => {
      const { storage } = scene;
      scene.run();
      await scene.caughtUp();
      let seed = 7;
      const random = (below: number) => {
        seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
        return Math.floor((seed / 2 ** 31) * below);
      };
      const pick = <T>(...values: readonly T[]) => values[random(values.length)] as T;
      const state = new Map<string, ManagedPod>();
      for (let at = 0; at < 400; at++) {
        const name = `p${random(12)}`;
        const parts: ManagedPod = { ...state.get(name), at };
        const next: ManagedPod = pick<() => ManagedPod>(
          () => ({ ...parts, restarts: random(5) }),
          () => ({ ...parts, condition: pick('True', 'False') }),
          () => ({ ...parts, app: pick('web', 'db'), annotation: pick('x', 'y') }),
          () => ({ ...parts, phase: pick('Running', 'Failed'), node: pick('n1', 'n2') }),
          () => ({ ...parts, reason: pick(undefined, 'ContainerCreating', 'with "quotes" }]') }),
        )();
        const [known] = state.has(name) ? [true] : [false];
        if (known && random(15) === 0) {
          await remove(storage, keyOf(name));
          state.delete(name);
          continue;
        }
        if (known) await put(storage, keyOf(name), managedPod(next));
        else await storage.create(keyOf(name), `u${at}`, managedPod(next));
        state.set(name, next);
      }
      await scene.caughtUp();
      const all = 'select * from cluster.pods order by name';
      const rows = await scene.rows(all);
      await syncViews(scene.url, scene.definitions, suffix, sqlProjectionMode('views', []), quiet);
      assert.deepEqual(rows, await scene.rows(all));
      const [{ quiet: found } = { quiet: 0 }] = await scene.rows(
        'select count(*)::int as quiet from plinth.changes where quiet = 1',
      );
      assert.ok((found as number) > 50, `${found} quiet changes`);
    }),
  );
});
