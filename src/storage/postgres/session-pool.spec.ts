import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { eventually } from '../../../test/e2e/support/test-cluster.js';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import { StorageError } from '../storage-error.js';
import { resolveOptions } from './postgres-storage-options.js';
import type { ReplicaProblem } from './replica-history.js';
import { SessionPool } from './session-pool.js';

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
