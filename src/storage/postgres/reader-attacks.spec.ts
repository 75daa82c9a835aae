import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import { onlyViews } from '../../base/config/sql-projection.js';
import { fence } from './fence.js';
import { migrate } from './migrate.js';
import { createPostgresStorage, type PostgresStorage } from './postgres-storage.js';
import { silentObserver } from './postgres-storage-options.js';
import { readerRole } from './reader-rights.js';
import { sqlView } from './sql-view-text.js';
import { syncSqlViews } from './sql-views.js';

const denied = { code: '42501' };
const modes = [
  'access share',
  'row share',
  'row exclusive',
  'share update exclusive',
  'share',
  'share row exclusive',
  'exclusive',
  'access exclusive',
];
const key = (name: string) => ({ resource: 'things', namespace: '', name });
const view = (comment: string) =>
  sqlView({ name: 'things', storageResource: 'things', namespaced: true, comment, fields: [] });

describe('a role that may read the views', () => {
  let server: TestPostgres;
  let url: string;
  let owner: pg.Client;
  let storage: PostgresStorage;
  const readers: pg.Client[] = [];
  let errors: unknown[];
  const reader = async (): Promise<pg.Client> => {
    const connectionString = url.replace('postgres@', 'mallory@');
    const client = new pg.Client({ connectionString });
    client.on('error', () => {});
    await client.connect();
    readers.push(client);
    return client;
  };

  before(async () => {
    server = await startTestPostgres();
    url = await server.createTestDatabase();
    owner = new pg.Client({ connectionString: url });
    await owner.connect();
    await syncSqlViews(url, [view('Things.')], onlyViews);
    await owner.query(`create role mallory login; grant ${readerRole} to mallory`);
    errors = [];
    const observer = { ...silentObserver, backgroundError: (_: string, error: unknown) => errors.push(error) };
    storage = await createPostgresStorage({ databaseUrl: url, writeWaitMs: 30_000, observer });
  });
  after(async () => {
    for (const client of readers) await client.end();
    await storage.stop();
    await owner.end();
    await server.stop();
  });

  it('has no lock that holds up writes, upkeep, starts or migrations', async () => {
    const mallory = await reader();
    for (const number of [7811071, 0, 1, 2, 3]) await mallory.query('select pg_advisory_lock($1)', [number]);
    await mallory.query('select pg_advisory_lock(7811071, n) from generate_series(0, 1000) n');
    await mallory.query('begin; select count(*) from cluster.things');
    const written = await storage.create(key('a'), 'u', '{}');
    await owner.query(`select * from plinth.keep_changes('5 minutes', '1 hour', 3)`);
    await migrate(url);
    const second = await createPostgresStorage({ databaseUrl: url, writeWaitMs: 30_000 });
    try {
      assert.equal((await second.get(key('a')))?.resourceVersion, written.resourceVersion);
      await second.create(key('b'), 'u', '{}');
    } finally {
      await second.stop();
    }
    await mallory.query('rollback');
  });

  it('may lock nothing of ours in a mode that others wait for', async () => {
    const mallory = await reader();
    // Everybody has all rights on pg_settings, but none of the program's functions reads it.
    const { rows } = await owner.query<{ name: string; schema: string }>(
      `select quote_ident(n.nspname) || '.' || quote_ident(c.relname) as name, n.nspname as schema
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname in ('plinth', 'cluster', 'pg_catalog') and c.relkind in ('r', 'p', 'v')
         and c.relname <> 'pg_settings'`,
    );
    assert.ok(rows.length > 80);
    for (const { name, schema } of rows) {
      for (const mode of modes) {
        if (mode === 'access share' && schema !== 'plinth') continue;
        await mallory.query('begin');
        await assert.rejects(mallory.query(`lock table ${name} in ${mode} mode`), denied, `${name} in ${mode}`);
        await mallory.query('rollback');
      }
    }
  });

  it('can not end our sessions, nor see where versions are notified', async () => {
    const mallory = await reader();
    const { rows } = await owner.query<{ pid: number }>(
      `select pid from pg_stat_activity where application_name like 'plinth%' and datname = current_database()`,
    );
    assert.ok(rows.length >= 2);
    for (const { pid } of rows) {
      await assert.rejects(mallory.query('select pg_terminate_backend($1)', [pid]), denied);
      await assert.rejects(mallory.query('select pg_cancel_backend($1)', [pid]), denied);
    }
    await assert.rejects(mallory.query('select channel from plinth.epoch'), denied);
    const [epoch] = (await owner.query<{ channel: string }>('select channel from plinth.epoch')).rows;
    const channel = epoch?.channel ?? '';
    assert.match(channel, /^plinth_hints_[0-9a-f]{32}$/);
    const seen = await mallory.query<{ query: string }>('select query from pg_stat_activity');
    assert.ok(seen.rows.every(({ query }) => !query.includes(channel)));
    // No function body that everybody may read contains the name of the channel either.
    const sources = await mallory.query('select from pg_proc where strpos(prosrc, $1) > 0', [channel]);
    assert.equal(sources.rowCount, 0);
  });

  it('can not replace a built-in function by its own', async () => {
    await owner.query('grant create on schema public to mallory');
    const mallory = await reader();
    await mallory.query(
      `create function public.div(numeric, bigint) returns numeric language plpgsql as
       $$ begin raise exception 'called as %', current_user; end $$`,
    );
    await fence(url, { bump: 1_000_000n, force: true });
  });

  it('does not hold up new views for long', async () => {
    const mallory = await reader();
    await mallory.query('begin; select count(*) from cluster.things');
    const more = view('More.');
    const broken = { ...more, ofObjects: { ...more.ofObjects, query: 'select 1 as n' } };
    const { kept } = await syncSqlViews(url, [view('Other things.'), broken], onlyViews);
    await mallory.query('rollback');
    assert.ok(kept.length > 0);
  });

  it('does not stop writes by filling the queue of notifications', async (t) => {
    const [version] = (await owner.query<{ n: number }>(`select current_setting('server_version_num')::int as n`)).rows;
    if ((version?.n ?? 0) < 170000) {
      t.skip('the queue of this server has 8 GB');
      return;
    }
    const small = await startTestPostgres({ settings: { max_notify_queue_pages: '64' } });
    try {
      const database = await small.createTestDatabase();
      const store = await createPostgresStorage({ databaseUrl: database, writeWaitMs: 30_000 });
      const flooder = new pg.Client({ connectionString: database });
      const holder = new pg.Client({ connectionString: database });
      try {
        await flooder.connect();
        await holder.connect();
        await holder.query('listen anything');
        await holder.query('begin; select 1');
        await assert.rejects(
          async () => {
            for (;;)
              await flooder.query(`select pg_notify('anything', n || repeat('x', 7000)) from generate_series(1, 20) n`);
          },
          { code: '54000' },
        );
        for (const name of ['a', 'b', 'c']) await store.create(key(name), 'u', '{}');
        await holder.query('rollback');
        await store.create(key('d'), 'u', '{}');
      } finally {
        await flooder.end();
        await holder.end();
        await store.stop();
      }
    } finally {
      await small.stop();
    }
  });
});
