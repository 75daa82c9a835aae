import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import pg from 'pg';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import { onlyViews } from '../../base/config/sql-projection.js';
import type { StorageKey } from '../storage-key.js';
import { failsWith } from '../testing/storage-contract.js';
import { fence } from './fence.js';
import { migrate } from './migrate.js';
import { createPostgresStorage, type PostgresStorage } from './postgres-storage.js';
import { readerRole } from './reader-rights.js';
import { sqlView } from './sql-view-text.js';
import { syncSqlViews } from './sql-views.js';

/** The embedded Postgres comes without pg_dump and pg_restore. */
const programs = process.env.PLINTH_TEST_POSTGRES_BIN ?? '';
const skip = !existsSync(join(programs, 'pg_restore')) && 'needs a PostgreSQL with pg_dump: npm run test:stock';

const bump = 1_000_000_000n;
const key = (name: string): StorageKey => ({ resource: 'things', namespace: 'default', name });
const views = [
  sqlView({ name: 'things', storageResource: 'things', namespaced: true, comment: 'Things.', fields: [] }),
];

describe('a dump', { skip }, () => {
  let server: TestPostgres;
  let folder: string;
  let dump: string;
  let url: string;
  const opened: PostgresStorage[] = [];

  before(async () => {
    server = await startTestPostgres();
    folder = await mkdtemp(join(tmpdir(), 'plinth-dump-'));
  });
  after(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    url = await server.createTestDatabase();
    dump = join(folder, 'plinth.dump');
    await syncSqlViews(url, views, onlyViews);
  });
  afterEach(async () => {
    for (const storage of opened.splice(0)) await storage.stop();
  });

  async function open(): Promise<PostgresStorage> {
    const storage = await createPostgresStorage({ databaseUrl: url, writeWaitMs: 30_000 });
    opened.push(storage);
    return storage;
  }

  function run(program: string, ...args: string[]): string {
    const { status, stdout, stderr, error } = spawnSync(join(programs, program), args, { encoding: 'utf8' });
    assert.equal(status, 0, `${program} ${args.join(' ')}: ${error?.message ?? stderr}`);
    return stdout;
  }

  async function createDatabase(name: string): Promise<void> {
    const admin = new pg.Client({ connectionString: server.adminUrl });
    await admin.connect();
    try {
      await admin.query(`create database ${name} template template0`);
    } finally {
      await admin.end();
    }
  }

  /** Creates an object that the dump contains, and later versions that only the process knows. */
  async function dumpAndGoOn(storage: PostgresStorage): Promise<readonly bigint[]> {
    await storage.create(key('kept'), 'u', '{}');
    run('pg_dump', '-Fc', '-f', dump, url);
    const lost: bigint[] = [];
    for (const name of ['a', 'b', 'c']) lost.push((await storage.create(key(name), 'u', '{}')).resourceVersion);
    return lost;
  }

  /** The steps of docs/operations.md, which says to repeat the last one after a deadlock with a running process. */
  function restoreInPlace(): void {
    const script = join(folder, 'plinth.sql');
    run('pg_restore', '-f', script, dump);
    const drop = 'drop schema if exists cluster, plinth cascade';
    const args = ['-q', '--single-transaction', '-v', 'ON_ERROR_STOP=1', '-c', drop, '-f', script, url];
    let end: { readonly status: number | null; readonly stderr: string };
    do end = spawnSync(join(programs, 'psql'), args, { encoding: 'utf8' });
    while (end.stderr.includes('deadlock detected'));
    assert.equal(end.status, 0, end.stderr);
  }

  async function isReadable(): Promise<void> {
    assert.equal((await syncSqlViews(url, views, onlyViews)).reader, 'ready');
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      await client.query(`set role ${readerRole}`);
      const { rows } = await client.query({ text: 'select name from cluster.things order by 1', rowMode: 'array' });
      assert.deepEqual(rows.flat(), ['kept', 'next']);
    } finally {
      await client.end();
    }
  }

  async function isServedSafely(storage: PostgresStorage, lost: readonly bigint[]): Promise<void> {
    assert.notEqual(await storage.get(key('kept')), undefined);
    assert.equal(await storage.get(key('a')), undefined);
    for (const version of lost) {
      const { resource } = key('');
      await assert.rejects(storage.list({ resource, limit: 10, at: version }), failsWith('Expired'));
      await assert.rejects(storage.watch({ resource }, version), failsWith('Expired'));
    }
    const { resourceVersion } = await storage.create(key('next'), 'u', '{}');
    assert.ok(resourceVersion > (lost.at(-1) ?? 0n) + bump / 2n, String(resourceVersion));
  }

  it('goes into a new database, which serves after the fence', async () => {
    const before = await open();
    const lost = await dumpAndGoOn(before);
    await before.stop();
    const restored = `${new URL(url).pathname.slice(1)}_restored`;
    await createDatabase(restored);
    url = Object.assign(new URL(url), { pathname: `/${restored}` }).href;
    run('pg_restore', '--single-transaction', '--exit-on-error', '-d', url, dump);
    await migrate(url);
    assert.ok((await fence(url, { bump, force: false })).head > (lost.at(-1) ?? 0n));
    await isServedSafely(await open(), lost);
    await isReadable();
  });

  it('goes into an existing schema, which serves after the fence', async () => {
    const before = await open();
    const lost = await dumpAndGoOn(before);
    await before.stop();
    restoreInPlace();
    await migrate(url);
    await fence(url, { bump, force: false });
    await isServedSafely(await open(), lost);
    await isReadable();
  });

  it('takes back no version from a running process', async () => {
    const storage = await open();
    const watch = await storage.watch({ resource: key('').resource }, await storage.head());
    const lost = await dumpAndGoOn(storage);
    restoreInPlace();
    await isServedSafely(storage, lost);
    await assert.rejects(async () => {
      while ((await watch.next()) !== undefined);
    }, failsWith('Expired'));
    const { resourceVersion } = await storage.create(key('before the fence'), 'u', '{}');
    await fence(url, { bump, force: true });
    const after = await storage.create(key('behind the fence'), 'u', '{}');
    assert.ok(after.resourceVersion > resourceVersion + bump / 2n);
  });
});
