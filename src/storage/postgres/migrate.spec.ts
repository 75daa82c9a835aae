import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import { loadMigrations, MigrationError, migrate } from './migrate.js';
import { createPostgresStorage } from './postgres-storage.js';

describe('migrate', () => {
  let server: TestPostgres;
  let admin: pg.Client;
  let databases = 0;
  before(async () => {
    server = await startTestPostgres();
    admin = new pg.Client({ connectionString: server.adminUrl });
    await admin.connect();
  });
  after(async () => {
    await admin.end();
    await server.stop();
  });

  const emptyDatabase = async (options = ''): Promise<string> => {
    const name = `migrate_${process.pid}_${databases++}`;
    await admin.query(`create database ${name} template template0 ${options}`);
    return server.adminUrl.replace(/\/postgres$/, `/${name}`);
  };
  const query = async (url: string, text: string): Promise<Record<string, unknown>[]> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(text)).rows;
    } finally {
      await client.end();
    }
  };
  const refused = (pattern: RegExp) => (error: unknown) => {
    assert.ok(error instanceof MigrationError);
    assert.match(error.message, pattern);
    return true;
  };

  it('applies what is missing, once', async () => {
    const url = await emptyDatabase();
    const known = (await loadMigrations()).map((migration) => migration.version);
    assert.deepEqual(await migrate(url), { applied: known, version: known.length });
    assert.deepEqual(await migrate(url), { applied: [], version: known.length });
  });

  it('is safe for several processes at once', async () => {
    const url = await emptyDatabase();
    const results = await Promise.all(Array.from({ length: 4 }, () => migrate(url)));
    assert.equal(results.filter((result) => result.applied.length > 0).length, 1);
    const storage = await createPostgresStorage({ databaseUrl: url });
    await storage.stop();
  });

  it('leaves nothing behind when a migration fails', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'plinth-migrations-'));
    try {
      await writeFile(join(directory, '000001_good.sql'), 'create table plinth.good (n integer);');
      await writeFile(join(directory, '000002_bad.sql'), 'create table plinth.bad (n integer); select 1 / 0;');
      const url = await emptyDatabase();
      await assert.rejects(migrate(url, directory), refused(/SQLSTATE 22012/));
      assert.deepEqual(await query(url, `select from pg_namespace where nspname = 'plinth'`), []);
      await writeFile(join(directory, '000002_bad.sql'), 'create table plinth.bad (n integer);');
      assert.deepEqual((await migrate(url, directory)).applied, [1, 2]);
      await writeFile(join(directory, '000004_gap.sql'), 'select 1;');
      await assert.rejects(migrate(url, directory), refused(/gap/));
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  it('refuses a schema newer than the program, and storage does so too', async () => {
    const url = await emptyDatabase();
    const { version } = await migrate(url);
    await query(url, `insert into plinth.schema_migrations values (${version + 1}, 'future')`);
    await assert.rejects(migrate(url), refused(/newer program/));
    await assert.rejects(createPostgresStorage({ databaseUrl: url }), refused(/newer program/));
  });

  it('explains missing permissions and unsuitable databases', async () => {
    await admin.query('create role weak login');
    const url = await emptyDatabase();
    await assert.rejects(migrate(url.replace('postgres@', 'weak@')), refused(/lacks a permission/));
    const latin = await emptyDatabase(`encoding 'LATIN1'`);
    await assert.rejects(migrate(latin), refused(/UTF8/));
    await assert.rejects(migrate(`${url}_missing`), refused(/can't be reached/));
  });

  it('lets a role without superuser rights own and use the schema', async () => {
    await admin.query('create role plain login');
    const url = (await emptyDatabase('owner plain')).replace('postgres@', 'plain@');
    await migrate(url);
    const storage = await createPostgresStorage({ databaseUrl: url });
    try {
      await storage.create({ resource: 'things', namespace: '', name: 'a' }, 'u', '{}');
      assert.equal(storage.epoch?.epoch, 1n);
    } finally {
      await storage.stop();
    }
  });
});
