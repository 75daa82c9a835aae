import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import { onlyViews } from '../../../base/config/sql-projection.js';
import { anyJson, type KindType, time } from '../../../base/machinery/schema/index.js';
import { Logger } from '../../../base/observability/logger.js';
import { event } from '../../../objects/apis/core/v1/event.types.js';
import { namespace } from '../../../objects/apis/core/v1/namespace.types.js';
import { pod } from '../../../objects/apis/core/v1/pod.types.js';
import { defineVirtualResource } from '../../../objects/registry/resource-definition.js';
import { createPostgresStorage } from '../../../storage/postgres/postgres-storage.js';
import { syncViews, viewsOf } from './sync-views.js';
import {
  all,
  connect,
  definition,
  events,
  namespaces,
  pods,
  put,
  quiet,
  secrets,
  suffix,
  withReader,
} from './testing/view-scene.js';

let postgres: TestPostgres;

before(async () => {
  // A server of our own, because roles belong to the whole server.
  postgres = await startTestPostgres({ fsync: false });
});

after(() => postgres.stop());

describe('viewsOf', () => {
  it('gives a shared plural to the core group, then to built-in groups, then to the first added one', () => {
    const named = (group: string) => definition(pod as KindType, 'things', { group });
    const views = viewsOf([named('a.example'), named('z.k8s.io'), named(''), named('apps')], suffix).map(
      (form) => form.ofObjects,
    );
    assert.deepEqual(
      views.map((view) => view.name),
      ['things', 'things_apps', 'things_z_k8s_io', 'things_a_example'],
    );
  });

  it('shows a resource that is stored elsewhere with the columns of the stored objects', () => {
    const storedAs = { group: '', resource: 'events' };
    const other = definition(pod as KindType, 'events', { group: 'events.k8s.io', storedAs });
    const [first, second] = viewsOf([other, events], suffix).map((form) => form.ofObjects);
    assert.equal(second?.name, 'events_events_k8s_io');
    assert.equal(second?.query, first?.query);
  });

  it('leaves out resources that are never stored, and cuts long names without mixing them up', () => {
    const reviews = defineVirtualResource({ ...pods, resource: 'reviews', answer: (_context, review) => review });
    const long = (end: string) => definition(pod as KindType, 'pods', { group: `${'a'.repeat(60)}.example.${end}` });
    const views = viewsOf([reviews, pods, long('one'), long('two')], suffix).map((form) => form.ofObjects);
    assert.equal(views.length, 3);
    assert.equal(new Set(views.map((view) => view.name)).size, 3);
    assert.ok(views.every((view) => view.name.length <= 63));
  });
});

describe('syncViews', () => {
  it('shows objects with their fields as columns', () =>
    withReader(postgres, async ({ storage, reader }) => {
      const object = {
        kind: 'Pod',
        apiVersion: 'v1',
        metadata: {
          name: 'web',
          namespace: 'default',
          creationTimestamp: '2026-01-02T03:04:05Z',
          labels: { app: 'web' },
        },
        spec: { nodeName: 'node-1' },
        status: { phase: 'Running' },
      };
      const written = await put(storage, 'pods', 'web', JSON.stringify(object));
      await put(storage, 'configmaps', 'other', JSON.stringify({ metadata: {} }));
      const { rows } = await reader.query(
        `select namespace, name, status->>'phase' as phase, spec, labels, annotations, created_at, deleted_at,
           uid, resource_version, object->'metadata'->>'resourceVersion' as version
         from cluster.pods`,
      );
      assert.deepEqual(rows, [
        {
          namespace: 'default',
          name: 'web',
          phase: 'Running',
          spec: { nodeName: 'node-1' },
          labels: { app: 'web' },
          annotations: null,
          created_at: new Date('2026-01-02T03:04:05Z'),
          deleted_at: null,
          uid: 'uid-web',
          resource_version: String(written.resourceVersion),
          version: String(written.resourceVersion),
        },
      ]);
    }));

  it('shows strings as text, times as timestamps, and no namespace for cluster-scoped kinds', () =>
    withReader(postgres, async ({ storage, reader }) => {
      const seen = {
        metadata: {},
        type: 'Warning',
        lastTimestamp: '2026-01-02T03:04:05Z',
        eventTime: 'never',
        count: 3,
      };
      await put(storage, 'events', 'one', JSON.stringify(seen));
      await put(storage, 'namespaces', 'default', JSON.stringify({ metadata: {} }), '');
      const { rows } = await reader.query('select type, last_timestamp, event_time, count from cluster.events');
      const last_timestamp = new Date('2026-01-02T03:04:05Z');
      assert.deepEqual(rows, [{ type: 'Warning', last_timestamp, event_time: null, count: 3 }]);
      assert.deepEqual((await reader.query('select namespace, name from cluster.namespaces')).rows, [
        { namespace: null, name: 'default' },
      ]);
    }));

  it('shows text that jsonb refuses with a replacement, and only then changes anything', () =>
    withReader(postgres, async ({ storage, reader }) => {
      const texts: Record<string, string> = {
        nul: '"a\\u0000\\u0000b"',
        backslash: '"a\\\\u0000\\\\\\\\ud800"',
        mixed: '"\\\\\\u0000"',
        lone: '"\\ud800x\\uDC00"',
        pair: '"\\u00e9😀\\n"',
      };
      for (const [name, text] of Object.entries(texts)) {
        await put(storage, 'pods', name, `{"metadata":{"annotations":{"key":${text}}},"status":{"phase":"${name}"}}`);
      }
      const { rows } = await reader.query<{ name: string; text: string; phase: string }>(
        `select name, annotations->>'key' as text, status->>'phase' as phase from cluster.pods`,
      );
      assert.deepEqual(Object.fromEntries(rows.map((row) => [row.name, row.text])), {
        nul: 'a\ufffd\ufffdb',
        backslash: 'a\\u0000\\\\ud800',
        mixed: '\\\ufffd',
        lone: '\ufffdx\ufffd',
        pair: 'é😀\n',
      });
      assert.ok(rows.every((row) => row.phase === row.name));
    }));

  it('shows all objects of a kind although jsonb can not hold one, or a time of one is none', () =>
    withReader(postgres, async ({ storage, url, reader }) => {
      const [first] = (pod as KindType).fields as [KindType['fields'][number]];
      const withFields = (...fields: KindType['fields']) => ({ ...(pod as KindType), fields }) as KindType;
      const loose = definition(withFields({ ...first, name: 'spec', type: anyJson }), 'loose');
      const timed = definition(withFields({ ...first, name: 'until', type: time }), 'timed');
      await syncViews(url, [...all, loose, timed], suffix, onlyViews, quiet);
      await put(storage, 'loose', 'good', '{"metadata":{},"spec":1}');
      await put(storage, 'loose', 'huge', '{"metadata":{},"spec":1e400000}');
      const { rows } = await reader.query('select name, spec, object from cluster.loose order by name');
      const [good, huge] = rows;
      assert.deepEqual([good.name, good.spec, good.object.spec], ['good', 1, 1]);
      assert.deepEqual(huge, { name: 'huge', spec: null, object: null });
      const times: Readonly<Record<string, string | null>> = {
        '2026-02-28T23:59:59Z': '2026-02-28T23:59:59.000Z',
        '2028-02-29T00:00:00.5Z': '2028-02-29T00:00:00.500Z',
        '2000-02-29T00:00:00Z': '2000-02-29T00:00:00.000Z',
        '2026-12-31T00:00:00Z': '2026-12-31T00:00:00.000Z',
        '2026-02-29T00:00:00Z': null,
        '1900-02-29T00:00:00Z': null,
        '2026-04-31T00:00:00Z': null,
        '2026-13-01T00:00:00Z': null,
        '2026-00-10T00:00:00Z': null,
        '2026-01-00T00:00:00Z': null,
        '2026-01-32T00:00:00Z': null,
        '2026-01-01T25:00:00Z': null,
        '2026-01-01T00:60:00Z': null,
        '2026-01-01T00:00:61Z': null,
        '0000-01-01T00:00:00Z': null,
        infinity: null,
      };
      const texts = Object.keys(times);
      for (const [i, until] of texts.entries()) {
        await put(storage, 'timed', `t${10 + i}`, JSON.stringify({ metadata: {}, until }));
      }
      const shown = await reader.query<{ until: Date | null }>('select until from cluster.timed order by name');
      assert.deepEqual(
        Object.fromEntries(shown.rows.map(({ until }, i) => [texts[i], until?.toISOString() ?? null])),
        times,
      );
    }));

  it('makes views of kinds with very many fields and with odd names of fields', async () => {
    const databaseUrl = await postgres.createTestDatabase();
    await (await createPostgresStorage({ databaseUrl })).stop();
    const odd = [
      '',
      '-',
      '+',
      '_',
      'a\u0000b',
      '\ud800',
      'name',
      'Name',
      'c'.repeat(70),
      `${'c'.repeat(70)}-`,
      'a"b\\',
    ];
    const names = [...odd, ...Array.from({ length: 3_000 }, (_, i) => `p${i}`)];
    const { fields, ...rest } = event as KindType;
    const [first] = fields as [KindType['fields'][number]];
    const wide = { ...rest, fields: names.map((name) => ({ ...first, name })) } as KindType;
    const result = await syncViews(databaseUrl, [pods, definition(wide, 'wides')], suffix, onlyViews, quiet);
    assert.deepEqual([result.changed.toSorted(), result.kept], [['pods', 'wides'], []]);
  });

  it('does nothing the second time, follows changes, and drops views of resources that are gone', async () => {
    const url = await postgres.createTestDatabase();
    const first = await syncViews(url, all, suffix, onlyViews, quiet);
    assert.deepEqual(first.changed.toSorted(), ['events', 'namespaces', 'pods', 'secrets']);
    assert.equal(first.reader, 'ready');
    assert.deepEqual(await syncViews(url, all, suffix, onlyViews, quiet), {
      changed: [],
      dropped: [],
      kept: [],
      reader: 'ready',
    });
    // The shape of another kind: columns change and one is removed.
    const reshaped = definition(namespace as KindType, 'pods', { namespaced: true });
    const second = await syncViews(url, [reshaped, secrets, namespaces], suffix, onlyViews, quiet);
    assert.deepEqual(second, { changed: ['pods'], dropped: ['events'], kept: [], reader: 'ready' });
    const owner = await connect(url);
    await owner.query('set role plinth_reader');
    await owner.query('select spec, status from cluster.pods');
    await assert.rejects(owner.query('select * from cluster.events'), { code: '42P01' });
    await owner.query('reset role; drop view cluster.pods');
    await owner.end();
    assert.deepEqual((await syncViews(url, [reshaped, secrets, namespaces], suffix, onlyViews, quiet)).changed, [
      'pods',
    ]);
  });

  it('keeps a view that others depend on and a foreign relation, and says so', async () => {
    const url = await postgres.createTestDatabase();
    const owner = await connect(url);
    await owner.query('create table cluster.pods (mine text)');
    const lines: string[] = [];
    const logger = new Logger('warn', 'text', (line) => lines.push(line));
    const first = await syncViews(url, all, suffix, onlyViews, logger);
    assert.deepEqual(
      first.kept.map((view) => view.name),
      ['pods'],
    );
    await owner.query('drop table cluster.pods; create view public.mine as select count from cluster.events');
    const reshaped = definition(namespace as KindType, 'events', { namespaced: true });
    const second = await syncViews(url, [pods, reshaped, secrets, namespaces], suffix, onlyViews, logger);
    assert.deepEqual(second.changed, ['pods']);
    assert.deepEqual(
      second.kept.map((view) => view.name),
      ['events'],
    );
    assert.equal(lines.length, 2);
    await owner.query('drop view public.mine');
    assert.deepEqual((await syncViews(url, [pods, reshaped, secrets, namespaces], suffix, onlyViews, quiet)).changed, [
      'events',
    ]);
    await owner.end();
  });

  it('may run in several processes at once', async () => {
    const url = await postgres.createTestDatabase();
    const results = await Promise.all(Array.from({ length: 4 }, () => syncViews(url, all, suffix, onlyViews, quiet)));
    assert.equal(results.flatMap((result) => result.changed).length, all.length);
    assert.ok(results.every((result) => result.kept.length === 0 && result.reader === 'ready'));
  });

  it('says why it can’t when the database is not there', async () => {
    const url = `postgres://postgres@127.0.0.1:${postgres.port}/no_such_database`;
    await assert.rejects(syncViews(url, all, suffix, onlyViews, quiet), {
      name: 'MigrationError',
      message: /does not exist/,
    });
  });
});
