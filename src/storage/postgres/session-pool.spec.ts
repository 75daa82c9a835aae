import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { eventually } from '../../../test/e2e/support/test-cluster.js';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import { StorageError } from '../storage-error.js';
import { resolveOptions } from './postgres-storage-options.js';
import type { ReplicaProblem } from './replica-history.js';
import { SessionPool } from './session-pool.js';

describe('connections for reads', () => {
  let server: TestPostgres;
  before(async () => {
    server = await startTestPostgres();
  });
  after(() => server.stop());

  it('are not all taken by long reads', async () => {
    const databaseUrl = await server.createTestDatabase();
    const pool = new SessionPool(resolveOptions({ databaseUrl, poolSize: 3 }));
    const owner = new SessionPool(resolveOptions({ databaseUrl, poolSize: 1 }));
    const inDatabase = (text: string) => owner.run((session) => session.execute('one', text, 10_000));
    try {
      await inDatabase('select pg_advisory_lock(7)');
      let done = 0;
      const long = Array.from({ length: 5 }, () =>
        pool.run(async (session) => {
          await session.execute('long', 'select pg_advisory_lock_shared(7), pg_advisory_unlock_shared(7)', 30_000);
          done++;
        }, 'long'),
      );
      const waiting = `select count(*) from pg_locks where locktype = 'advisory' and not granted`;
      await eventually(async () => (await inDatabase(waiting))[0]?.[0] === '2', 'two long reads wait in the database');
      for (let i = 0; i < 3; i++) {
        assert.deepEqual(await pool.run((session) => session.execute('short', 'select 1', 10_000)), [['1']]);
      }
      assert.deepEqual(await inDatabase(waiting), [['2']]);
      assert.equal(done, 0);
      await inDatabase('select pg_advisory_unlock(7)');
      await Promise.all(long);
      assert.equal(done, 5);
    } finally {
      await pool.stop();
      await owner.stop();
    }
  });

  it('serve long reads even if there is only one', async () => {
    const pool = new SessionPool(resolveOptions({ databaseUrl: await server.createTestDatabase(), poolSize: 1 }));
    const read = (length: 'short' | 'long') =>
      pool.run((session) => session.execute('read', 'select 1', 10_000), length);
    try {
      assert.equal((await Promise.all([read('long'), read('short'), read('long')])).length, 3);
    } finally {
      await pool.stop();
    }
  });
});

describe('connections to a server that is checked', () => {
  let server: TestPostgres;
  before(async () => {
    server = await startTestPostgres();
  });
  after(() => server.stop());

  it('are closed when it must not be used any more, and opened when it may be again', async () => {
    let problem: ReplicaProblem | undefined;
    let isAway = false;
    const databaseUrl = await server.createTestDatabase();
    const pool = new SessionPool(resolveOptions({ databaseUrl }), {
      url: databaseUrl,
      role: 'reader',
      connectTimeoutMs: 30_000,
      patienceMs: 30_000,
      seatMs: 30_000,
      check: async () => {
        if (isAway) throw new StorageError('Unavailable', 'the other side does not answer');
        return problem;
      },
      recheckMs: 0,
    });
    const read = () => pool.run((session) => session.execute('read', 'select pg_backend_pid()', 10_000));
    try {
      const [first] = await read();
      // What can't be checked stays in use.
      isAway = true;
      for (let i = 0; i < 3; i++) assert.deepEqual((await read())[0], first);
      isAway = false;
      problem = 'ahead';
      await eventually(
        () =>
          read().then(
            () => false,
            (error: unknown) =>
              error instanceof StorageError && /has versions that the database lacks/.test(error.message),
          ),
        'a read is refused',
      );
      problem = undefined;
      assert.notDeepEqual((await read())[0], first);
    } finally {
      await pool.stop();
    }
  });
});
