import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { endWithUs } from '../../../../test/support/child-guard.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import { withClient } from '../../../base/database/with-client.js';
import { isAlive } from '../embedded/postmaster.js';
import { acquireDatabase } from './acquire-database.js';

const userProgram = fileURLToPath(new URL('./testing/database-user.js', import.meta.url));

interface User {
  readonly process: ChildProcess;
  readonly url: string;
}

describe('shared Postgres', { skip: process.platform === 'win32', timeout: 120_000 }, () => {
  let folder: string;
  const users: ChildProcess[] = [];

  before(async () => {
    // A folder of its own, with a blank in its path.
    folder = await mkdtemp(join(tmpdir(), 'plinth shared-'));
    await chmod(folder, 0o711);
  });
  after(async () => {
    for (const user of users) user.kill('SIGKILL');
    await until(async () => !(await keeperRuns()));
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  });

  async function startUser(): Promise<User> {
    const child = spawn(process.execPath, ['--enable-source-maps', userProgram], {
      env: { ...process.env, TMPDIR: folder },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    endWithUs(child);
    users.push(child);
    const [chunk] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
    return { process: child, url: chunk.toString().trim() };
  }

  async function until(condition: () => Promise<boolean>): Promise<void> {
    // The end of processes that are not our children is not reported to us.
    for (const deadline = performance.now() + 60_000; !(await condition()); await delay(20)) {
      assert.ok(performance.now() < deadline, 'it never happened');
    }
  }

  async function place(): Promise<string> {
    const [name = ''] = await readdir(folder);
    return join(folder, name);
  }

  async function keeperRuns(): Promise<boolean> {
    const names = await readdir(join(await place(), 'keeper')).catch(() => []);
    return names.length > 0;
  }

  const postmaster = async () =>
    Number((await readFile(join(await place(), 'postgres', 'postmaster.pid'))).toString().split('\n')[0]);

  it('is one for all processes, gives each a database of its own and ends after the last one was killed', async () => {
    const [first, second, third] = await Promise.all([startUser(), startUser(), startUser()]);
    const pid = await postmaster();
    assert.equal(new Set([first.url, second.url, third.url]).size, 3);
    const hosts = [first, second, third].map(({ url }) => new URL(url).search);
    assert.equal(new Set(hosts).size, 1);
    for (const { url } of [first, second, third]) {
      await withClient(url, async (client) => {
        const { rows } = await client.query('select count(*)::int as objects from plinth.objects');
        assert.deepEqual(rows, [{ objects: 0 }]);
      });
    }

    first.process.kill('SIGKILL');
    second.process.stdin?.end();
    const databases = () =>
      withClient(third.url, async (client) => {
        const { rows } = await client.query<{ datname: string }>(
          `select datname from pg_database where datname like 'plinth_test_%'`,
        );
        return rows.map(({ datname }) => datname);
      });
    await until(async () => (await databases()).length === 1);
    assert.deepEqual(await databases(), [new URL(third.url).pathname.slice(1)]);

    third.process.kill('SIGKILL');
    await until(async () => !(await keeperRuns()));
    assert.ok(!isAlive(pid), 'Postgres still runs');

    const later = await startUser();
    assert.notEqual(await postmaster(), pid);
    later.process.stdin?.end();
    await once(later.process, 'exit');
  });

  it('starts again after its keeper was killed, also while users are there', async () => {
    const user = await startUser();
    const pid = await postmaster();
    const [holder = ''] = (await readFile(join(await place(), 'keeper', 'plinth.pid'), 'utf8')).split(' ');
    process.kill(Number(holder), 'SIGKILL');
    await until(async () => !isAlive(pid));
    const next = await startUser();
    await withClient(next.url, (client) => client.query('select 1'));
    user.process.kill('SIGKILL');
    next.process.kill('SIGKILL');
  });

  describe('of the user', () => {
    let postgres: TestPostgres;

    before(async () => {
      postgres = await startTestPostgres();
    });
    after(() => postgres.stop());

    it('gets databases too, and loses those that killed processes left', async () => {
      const exists = (name: string) =>
        withClient(postgres.adminUrl, async (admin) => {
          const { rowCount } = await admin.query('select from pg_database where datname = $1', [name]);
          return rowCount === 1;
        });
      const left = `plinth_test_${Math.floor(Date.now() / 1000) - 3600}_ab`;
      await withClient(postgres.adminUrl, (admin) => admin.query(`create database ${left}`));
      const first = await acquireDatabase({ databaseUrl: postgres.adminUrl });
      assert.ok(!(await exists(left)));
      const second = await acquireDatabase({ databaseUrl: postgres.adminUrl });
      assert.ok(await exists(first.name));
      await first.release();
      assert.ok(!(await exists(first.name)));
      assert.ok(await exists(second.name));
      await second.release();
    });

    it('says which right its role lacks', async () => {
      await withClient(postgres.adminUrl, (admin) => admin.query('create role poor login'));
      const databaseUrl = postgres.adminUrl.replace('//postgres@', '//poor@');
      await assert.rejects(acquireDatabase({ databaseUrl }), /no database can be made .*CREATEDB/);
    });
  });
});
