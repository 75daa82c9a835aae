import assert from 'node:assert/strict';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import { migrate } from './migrate.js';
import { MigrationError } from './migration-error.js';
import { createPostgresStorage } from './postgres-storage.js';
import { calledFirst, isLaterRelease, loadSchemaTexts } from './schema-texts.js';

describe('migrate', () => {
  let server: TestPostgres;
  let admin: pg.Client;
  let databases = 0;
  const roots: string[] = [];
  before(async () => {
    server = await startTestPostgres();
    admin = new pg.Client({ connectionString: server.adminUrl });
    await admin.connect();
    await admin.query('create role plinth_public_probe');
  });
  after(async () => {
    await admin.end();
    await server.stop();
    for (const root of roots) await rm(root, { recursive: true });
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
  /** A program with a release of its own: a copy of the folder that can be changed. */
  const program = async (release: string) => {
    const root = await mkdtemp(join(tmpdir(), 'plinth-program-'));
    roots.push(root);
    const directory = join(root, 'migrations');
    await cp(fileURLToPath(new URL('../../../../migrations', import.meta.url)), directory, { recursive: true });
    await writeFile(join(root, 'package.json'), JSON.stringify({ version: release }));
    const change = async (name: string, comment: string): Promise<void> => {
      const file = join(directory, 'functions', `${name}.sql`);
      await writeFile(file, (await readFile(file, 'utf8')).replace('begin\n', `begin -- ${comment}\n`));
    };
    return { directory, change };
  };
  const inForce = async (url: string, name: string): Promise<string> => {
    const rows = await query(url, `select prosrc from pg_proc where oid = 'plinth.${name}'::regproc`);
    return String(rows[0]?.prosrc);
  };
  const refused = (pattern: RegExp) => (error: unknown) => {
    assert.ok(error instanceof MigrationError);
    assert.match(error.message, pattern);
    return true;
  };

  it('applies missing migrations, once', async () => {
    const url = await emptyDatabase();
    const { migrations, functions } = loadSchemaTexts();
    const version = migrations.length;
    const names = calledFirst(functions).map(({ name }) => name);
    assert.deepEqual(await migrate(url), {
      applied: migrations.map((known) => known.version),
      functions: names,
      version,
    });
    assert.deepEqual(await migrate(url), { applied: [], functions: [], version });
  });

  it('is safe for several processes at once', async () => {
    const url = await emptyDatabase();
    const results = await Promise.all(Array.from({ length: 4 }, () => migrate(url)));
    assert.equal(results.filter((result) => result.applied.length > 0).length, 1);
    const storage = await createPostgresStorage({ databaseUrl: url });
    await storage.stop();
  });

  it('leaves nothing behind when a migration fails', async () => {
    const { directory } = await program('1.0.0');
    const known = loadSchemaTexts().migrations.map(({ version }) => version);
    const next = known.length + 1;
    const file = (version: number, name: string) => join(directory, `${String(version).padStart(6, '0')}_${name}.sql`);
    await writeFile(file(next, 'bad'), 'create table plinth.bad (n integer); select 1 / 0;');
    const url = await emptyDatabase();
    await assert.rejects(migrate(url, directory), refused(/SQLSTATE 22012/));
    assert.deepEqual(await query(url, `select from pg_namespace where nspname = 'plinth'`), []);
    await writeFile(file(next, 'bad'), 'create table plinth.bad (n integer);');
    assert.deepEqual((await migrate(url, directory)).applied, [...known, next]);
    await writeFile(file(next + 2, 'gap'), 'select 1;');
    await assert.rejects(migrate(url, directory), refused(/gap/));
  });

  it('has one function in each file, which begins with its name, that can be applied again', async () => {
    for (const { name, sql } of loadSchemaTexts().functions) {
      const made = [...sql.matchAll(/^create .*$/gm)].map(([line]) => line);
      assert.equal(made.length, 1, name);
      assert.match(
        made[0] ?? '',
        new RegExp(`^create or replace function (?:plinth|cluster)\\.${name.split('.')[0]}\\(`),
      );
    }
  });

  it('replaces a function whose text differs, even when several processes start at once', async () => {
    const url = await emptyDatabase();
    const { release } = loadSchemaTexts();
    await migrate(url);
    const second = await program(release);
    await second.change('log_bounds', 'another text');
    const results = await Promise.all(Array.from({ length: 4 }, () => migrate(url, second.directory)));
    assert.deepEqual(
      results.flatMap(({ functions }) => functions),
      ['log_bounds'],
    );
    assert.match(await inForce(url, 'log_bounds'), /another text/);
    const [granted] = await query(
      url,
      `select has_function_privilege('plinth_public_probe', 'plinth.log_bounds()', 'execute') as allowed`,
    );
    assert.deepEqual(granted, { allowed: false });
    await assert.rejects(createPostgresStorage({ databaseUrl: url }), refused(/functions .* migrate first/));
  });

  it('leaves the functions of a later release alone, and works with them', async () => {
    const url = await emptyDatabase();
    const later = await program('99.10.0');
    await later.change('log_bounds', 'of a later release');
    await migrate(url, later.directory);
    assert.deepEqual((await migrate(url)).functions, []);
    assert.deepEqual((await migrate(url, (await program('99.9.1')).directory)).functions, []);
    assert.match(await inForce(url, 'log_bounds'), /of a later release/);
    const storage = await createPostgresStorage({ databaseUrl: url });
    await storage.stop();
    assert.deepEqual((await migrate(url, (await program('99.10.1')).directory)).functions, ['log_bounds']);
    assert.ok(
      isLaterRelease('0.10.0', '0.9.9') && !isLaterRelease('1.0.0', '1.0.0') && !isLaterRelease('1.0', '1.0.1'),
    );
  });

  it('refuses a schema from before the first release and one of other migrations, and touches neither', async () => {
    const old = await emptyDatabase();
    await query(
      old,
      `create schema plinth; create table plinth.schema_migrations (version integer);
       insert into plinth.schema_migrations values (1), (2), (3), (4), (5); create table plinth.objects (n integer)`,
    );
    await assert.rejects(migrate(old), refused(/before the first release/));
    await assert.rejects(createPostgresStorage({ databaseUrl: old }), refused(/before the first release/));
    const names = `select relname from pg_class where relnamespace = 'plinth'::regnamespace order by relname`;
    assert.deepEqual(await query(old, names), [{ relname: 'objects' }, { relname: 'schema_migrations' }]);

    const other = await emptyDatabase();
    const { directory } = await program('1.0.0');
    await writeFile(
      join(directory, '000002_sql_views.sql'),
      'create schema cluster; create table plinth.sql_views (other integer);',
    );
    await migrate(other, directory);
    await assert.rejects(migrate(other), refused(/migration 2 \(sql_views\) was applied with another text/));
    await assert.rejects(createPostgresStorage({ databaseUrl: other }), refused(/another text/));
  });

  it('refuses a schema newer than the program, and storage does so too', async () => {
    const url = await emptyDatabase();
    const { version } = await migrate(url);
    await query(url, `insert into plinth.applied_migrations values (${version + 1}, 'future', '')`);
    await assert.rejects(migrate(url), refused(/newer program/));
    await assert.rejects(createPostgresStorage({ databaseUrl: url }), refused(/newer program/));
  });

  it('explains missing permissions and unsuitable databases', async () => {
    await admin.query('create role weak login');
    const url = await emptyDatabase();
    await assert.rejects(migrate(url.replace('postgres@', 'weak@')), refused(/lacks a permission/));
    const latin = await emptyDatabase(`encoding 'LATIN1' locale 'C'`);
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
