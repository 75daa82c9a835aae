import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { deflateSync, gzipSync } from 'node:zlib';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import { onlyViews } from '../../../base/config/sql-projection.js';
import { type KindType } from '../../../base/machinery/schema/index.js';
import { isShownSecretAnnotation, shownSecretAnnotations } from '../../../base/machinery/secret-annotations.js';
import { Logger } from '../../../base/observability/logger.js';
import { pod } from '../../../objects/apis/core/v1/pod.types.js';
import { syncViews } from './sync-views.js';
import { all, connect, definition, pods, put, quiet, suffix, withReader } from './testing/view-scene.js';

let postgres: TestPostgres;

before(async () => {
  // A server of our own, because roles belong to the whole server and one test renames one.
  postgres = await startTestPostgres({ fsync: false });
});

after(() => postgres.stop());

describe('who may read views', () => {
  it('shows the keys of Secrets, never the values', () =>
    withReader(postgres, async ({ storage, reader }) => {
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
      const shown = {
        'kubernetes.io/service-account.name': 'builder',
        'vendor.example/service-account.uid': '4b1d0c1e-0d55-4a3f-9d0e-3f1c7a0c2b11',
        'meta.helm.sh/release-name': 'db',
        'meta.helm.sh/release-namespace': 'default',
        'cert-manager.io/alt-names': 'a.example,b.example',
        'cert-manager.io/issuer-name': 'ca',
      };
      // Values that tools and people keep in annotations, however harmless they look: a hash of a short value reveals
      // it.
      const hidden = {
        'kapp.k14s.io/original': manifest,
        'objectset.rio.cattle.io/applied': base64(gzipSync(manifest)),
        'banzaicloud.com/last-applied': 'UEsDBBQACAAIAAAAAAAAAAAAAAAAAAAAAAAIAAAAb3JpZ2luYWw',
        'reconcile.external-secrets.io/data-hash': 'a'.repeat(56),
        note: `the password is ${value}`,
        owner: 'team-a',
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
            ...shown,
            ...hidden,
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
      const { annotations } = rows[0];
      for (const [name, text] of Object.entries(annotations)) {
        assert.equal(text, Object.hasOwn(shown, name) ? shown[name as keyof typeof shown] : '(hidden)', name);
      }
      assert.equal(Object.keys(annotations).length, Object.keys(object.metadata.annotations).length);
      assert.deepEqual(rows[0].object.metadata.annotations, annotations);
      assert.equal(rows[1].data_keys, null);
    }));

  it('shows the annotations of Secrets that the audit trail shows, and no others', () =>
    withReader(postgres, async ({ storage, reader }) => {
      const names = [
        ...shownSecretAnnotations,
        'kubernetes.io/service-account.name',
        'vendor.example/service-account.uid',
        'service-account.name',
        'a.example/service-account.names',
        'helm.sh/hooks',
        'other.example/x',
      ];
      const annotations = Object.fromEntries(names.map((name) => [name, 'x']));
      await put(storage, 'secrets', 's', JSON.stringify({ metadata: { annotations } }));
      const { rows } = await reader.query('select annotations from cluster.secrets');
      const expected = names.map((name) => [name, isShownSecretAnnotation(name) ? 'x' : '(hidden)']);
      assert.deepEqual(rows[0].annotations, Object.fromEntries(expected));
      assert.equal(names.filter((name) => !isShownSecretAnnotation(name)).length, 4);
    }));

  it('hides values from functions that a reader puts into a query', () =>
    withReader(postgres, async ({ storage, reader, url }) => {
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
    withReader(postgres, async ({ storage, reader }) => {
      await put(storage, 'pods', 'web', JSON.stringify({ metadata: {} }));
      const refused = [
        'select * from plinth.objects',
        'select * from plinth.changes',
        'select plinth.log_bounds()',
        "select plinth.write_batch(null, 1, '{}', null, '{}', '{}', '{}', '{}', '{}', '{}', null, null, null, true)",
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
    }));

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
      // Where something depends on the old view, the new kind is not readable through its name either.
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
});
