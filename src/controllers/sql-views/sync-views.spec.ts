import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { deflateSync, gzipSync } from 'node:zlib';
import pg from 'pg';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import { event } from '../../apis/core/v1/event.types.js';
import { namespace } from '../../apis/core/v1/namespace.types.js';
import { pod } from '../../apis/core/v1/pod.types.js';
import { secret } from '../../apis/core/v1/secret.types.js';
import { onlyViews } from '../../config/sql-projection.js';
import { anyJson, type KindType, time } from '../../machinery/schema/index.js';
import { Logger } from '../../observability/logger.js';
import {
  defineResource,
  defineVirtualResource,
  type ResourceDefinition,
  type StoredResource,
} from '../../registry/resource-definition.js';
import { createPostgresStorage, type PostgresStorage } from '../../storage/postgres/postgres-storage.js';
import { syncViews, viewsOf } from './sync-views.js';

const suffix = 'k8s.io';
const quiet = new Logger('error', 'text', () => {});
let postgres: TestPostgres;

before(async () => {
  // A server of our own, because roles belong to the whole server and one test renames one.
  postgres = await startTestPostgres({ fsync: false });
});

after(() => postgres.stop());

function definition(type: KindType, resource: string, extra: Partial<StoredResource> = {}): ResourceDefinition {
  return defineResource({
    group: '',
    resource,
    singular: resource.slice(0, -1),
    kind: type.kind.kind,
    namespaced: type.kind.scope === 'Namespaced',
    versions: [{ version: 'v1', type }],
    strategy: {},
    ...extra,
  });
}

const pods = definition(pod as KindType, 'pods');
const secrets = definition(secret as KindType, 'secrets');
const events = definition(event as KindType, 'events');
const namespaces = definition(namespace as KindType, 'namespaces');
const all = [pods, secrets, events, namespaces];

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}

/** A database with views, and a login with no more than the reader role. */
async function withReader(use: (ctx: { storage: PostgresStorage; url: string; reader: pg.Client }) => Promise<void>) {
  const url = await postgres.createTestDatabase();
  const storage = await createPostgresStorage({ databaseUrl: url });
  await syncViews(url, all, suffix, onlyViews, quiet);
  const owner = await connect(url);
  await owner.query(`do $$ begin
    if not exists (select from pg_roles where rolname = 'test_reader') then
      create role test_reader login in role plinth_reader;
    end if;
  end $$`);
  await owner.end();
  const readerUrl = new URL(url);
  readerUrl.username = 'test_reader';
  const reader = await connect(readerUrl.href);
  try {
    await use({ storage, url, reader });
  } finally {
    await reader.end();
    await storage.stop();
  }
}

function put(storage: PostgresStorage, resource: string, name: string, json: string, ns = 'default') {
  return storage.create({ resource, namespace: ns, name }, `uid-${name}`, json);
}

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
    withReader(async ({ storage, reader }) => {
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
    withReader(async ({ storage, reader }) => {
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
    withReader(async ({ storage, reader }) => {
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
    withReader(async ({ storage, url, reader }) => {
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

  it('shows the keys of Secrets, never the values', () =>
    withReader(async ({ storage, reader }) => {
      const value = 'c3VwZXItc2VjcmV0';
      const manifest = JSON.stringify({ data: { password: value } });
      const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64');
      const copies = [
        base64(gzipSync(manifest)),
        base64(base64(gzipSync(manifest))),
        base64(deflateSync(manifest)),
        base64(manifest),
        base64(JSON.stringify([manifest], undefined, 1)),
        base64(JSON.stringify({ data: { password: value } }, undefined, 2)),
        `kind: Secret\ndata:\n  password: ${value}\n`,
        `"stringData" : {password: ${value}}`,
        `-----BEGIN PRIVATE KEY-----\n${value}\n-----END PRIVATE KEY-----`,
        base64(randomBytes(60)),
      ];
      const plain = {
        note: 'every eye sees W3 and data of a week',
        url: 'https://wiki.example/page?data=1',
        checksum: 'a'.repeat(64),
        'cert-manager.example/alt-names': 'a.example,b.example',
      };
      const object = {
        kind: 'Secret',
        apiVersion: 'v1',
        metadata: {
          name: 'db',
          annotations: {
            'kubectl.kubernetes.io/last-applied-configuration': manifest,
            'tool.example/original': ` ${manifest}`,
            ...Object.fromEntries(copies.map((copy, i) => [`tool.example/copy-${i}`, copy])),
            owner: 'team-a',
            ...plain,
          },
        },
        data: { user: value, password: value },
        stringData: { more: value },
        type: 'Opaque',
        unknown: value,
      };
      await put(storage, 'secrets', 'db', JSON.stringify(object));
      await put(storage, 'secrets', 'empty', JSON.stringify({ metadata: {}, type: 'Opaque' }));
      const { rows } = await reader.query('select * from cluster.secrets order by name');
      assert.equal(rows.length, 2);
      assert.ok(!JSON.stringify(rows).includes(value));
      assert.deepEqual(rows[0].data_keys, ['password', 'user']);
      assert.equal(rows[0].type, 'Opaque');
      const { owner, note, url, checksum, ...others } = rows[0].annotations;
      assert.deepEqual(
        { owner, note, url, checksum, 'cert-manager.example/alt-names': others['cert-manager.example/alt-names'] },
        {
          owner: 'team-a',
          ...plain,
        },
      );
      for (const [i, copy] of copies.entries()) assert.equal(others[`tool.example/copy-${i}`], '(hidden)', copy);
      assert.equal(rows[1].data_keys, null);
    }));

  it('hides values from functions that a reader puts into a query', () =>
    withReader(async ({ storage, reader, url }) => {
      const value = 'c3VwZXItc2VjcmV0';
      await put(storage, 'secrets', 'db', JSON.stringify({ metadata: {}, data: { password: value } }));
      await put(storage, 'pods', 'web', JSON.stringify({ metadata: {} }));
      await put(storage, 'unserved', 'name-of-unserved', JSON.stringify({ metadata: {} }));
      const owner = await connect(url);
      await owner.query('create schema evil; grant all on schema evil to test_reader');
      await owner.end();
      const seen: string[] = [];
      reader.on('notice', (notice) => seen.push(notice.message ?? ''));
      await reader.query(`
        create function evil.look(text) returns boolean language plpgsql cost 0.0001
          as $$ begin raise notice 'saw %', $1; return true; end $$;
        create function evil.look(jsonb) returns boolean language plpgsql cost 0.0001
          as $$ begin raise notice 'saw %', $1; return true; end $$;
        create function evil.strpos(text, text) returns integer language plpgsql
          as $$ begin raise notice 'saw %', $1; return 0; end $$;
        create function evil.jsonb_each(jsonb) returns table (key text, value jsonb) language plpgsql
          as $$ begin raise notice 'saw %', $1; return; end $$;
        set search_path = evil, pg_catalog;
        set enable_indexscan = off; set enable_indexonlyscan = off; set enable_bitmapscan = off`);
      await reader.query('select name from cluster.pods where look(object)');
      await reader.query('select name from cluster.pods where look(name)');
      await reader.query('select name from cluster.secrets where look(object)');
      await reader.query('select * from cluster.secrets');
      assert.ok(seen.length >= 3, 'the function was not called at all');
      assert.ok(!seen.some((text) => text.includes(value) || text.includes('name-of-unserved')), seen.join('; '));
    }));

  it('lets a reader see only the views', () =>
    withReader(async ({ storage, reader }) => {
      await put(storage, 'pods', 'web', JSON.stringify({ metadata: {} }));
      const refused = [
        'select * from plinth.objects',
        'select * from plinth.changes',
        'select plinth.log_bounds()',
        "select plinth.write_batch(null, 1, '{}', '{}', '{}', '{}', '{}', '{}', '{}', true)",
        'select * from plinth.sql_views',
        "update cluster.pods set name = 'x'",
        "insert into cluster.pods (name) values ('x')",
        'delete from cluster.pods',
        'create view cluster.mine as select 1',
        'create table cluster.mine (a int)',
        "select nextval('plinth.resource_version')",
      ];
      for (const sql of refused) {
        await assert.rejects(reader.query(sql), { code: /^(42501|55000)$/ }, sql);
      }
      const { rows } = await reader.query(
        `select p.oid::regprocedure::text as name from pg_proc p
         where p.pronamespace = 'plinth'::regnamespace and has_function_privilege(p.oid, 'execute') order by 1`,
      );
      assert.deepEqual(
        rows.map((row) => row.name.replace('plinth.', '')),
        [
          'field_manager(jsonb,jsonb)',
          'json_keys(jsonb)',
          'object_images(jsonb)',
          'object_labels(json)',
          'object_owner(jsonb)',
          'object_reasons(jsonb)',
          'past_changes(bigint,bigint,text,text,text)',
          'past_objects(text,bigint,text,text,jsonb)',
          'secret_annotations(jsonb)',
          'secret_object(jsonb)',
          'shown_diff(jsonb,jsonb,boolean,boolean)',
          'shown_object(text,json,bigint)',
          'to_jsonb(json)',
          'to_time(text)',
          'versioned_object(jsonb,bigint)',
          'whole_object(jsonb,jsonb,bigint)',
        ],
      );
    }));

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
    // The shape of another kind: columns change and one goes.
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

  it('gives nobody who may read a kind the right to another that takes its name', async () => {
    const url = await postgres.createTestDatabase();
    const things = (group: string) => definition(pod as KindType, 'things', { group });
    await syncViews(url, [things('b.example')], suffix, onlyViews, quiet);
    const owner = await connect(url);
    try {
      await owner.query(`do $$ begin
        if not exists (select from pg_roles where rolname = 'bob') then create role bob; end if; end $$`);
      await owner.query('grant usage on schema cluster to bob; grant select on cluster.things to bob');
      const mayRead = async () =>
        (await owner.query(`select has_table_privilege('bob', 'cluster.things', 'select') as may`)).rows[0]
          .may as boolean;
      await syncViews(url, [things('b.example'), pods], suffix, onlyViews, quiet);
      assert.equal(await mayRead(), true);
      // Where something keeps the old view, the new kind is not read through its name either.
      await owner.query('create view public.mine as select name from cluster.things');
      const { kept } = await syncViews(url, [things('a.example'), things('b.example')], suffix, onlyViews, quiet);
      assert.deepEqual(
        kept.map(({ name }) => name),
        ['things'],
      );
      const { rows } = await owner.query(`select resource from plinth.sql_views where name = 'things'`);
      assert.deepEqual(rows, [{ resource: 'things.b.example' }]);
      await owner.query('drop view public.mine');
      await syncViews(url, [things('a.example'), things('b.example')], suffix, onlyViews, quiet);
      assert.equal(await mayRead(), false);
    } finally {
      await owner.end();
    }
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

  it('asks for the role where it may not make it, and grants its rights later', async () => {
    const url = await postgres.createTestDatabase();
    const admin = await connect(url);
    // The role belongs to the server, so renaming it stands for a server without it.
    await admin.query(`create role modest login;
      alter role plinth_reader rename to plinth_reader_away;
      grant all on database ${new URL(url).pathname.slice(1)} to modest;
      alter schema cluster owner to modest; alter view cluster.audit owner to modest; grant all on schema plinth to modest;
      grant all on all tables in schema plinth to modest; grant execute on all functions in schema plinth to modest with grant option`);
    const modest = new URL(url);
    modest.username = 'modest';
    const lines: string[] = [];
    const logger = new Logger('warn', 'text', (line) => lines.push(line));
    try {
      assert.equal((await syncViews(modest.href, all, suffix, onlyViews, logger)).reader, 'missing');
      assert.match(lines.join(''), /create role plinth_reader nologin/);
      assert.equal((await syncViews(modest.href, all, suffix, onlyViews, quiet)).reader, 'missing');
    } finally {
      await admin.query('alter role plinth_reader_away rename to plinth_reader');
    }
    assert.equal((await syncViews(modest.href, all, suffix, onlyViews, quiet)).reader, 'ready');
    await admin.query('set role plinth_reader');
    await admin.query('select * from cluster.pods');
    await admin.end();
  });

  it('says why it can’t when the database is not there', async () => {
    const url = `postgres://postgres@127.0.0.1:${postgres.port}/no_such_database`;
    await assert.rejects(syncViews(url, all, suffix, onlyViews, quiet), {
      name: 'MigrationError',
      message: /does not exist/,
    });
  });
});
