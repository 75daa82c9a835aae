import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import { createPostgresStorage, type PostgresStorage } from './postgres-storage.js';
import { WriterHealth } from './writer-health.js';

const unavailable = { code: 'Unavailable' };

describe('readiness of the writer', () => {
  let server: TestPostgres;
  before(async () => {
    server = await startTestPostgres();
  });
  after(() => server.stop());

  const withStorage = async (use: (storage: PostgresStorage, client: pg.Client, url: string) => Promise<void>) => {
    const databaseUrl = await server.createTestDatabase();
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    const storage = await createPostgresStorage({ databaseUrl });
    try {
      await use(storage, client, databaseUrl);
    } finally {
      await storage.stop();
      await client.end();
    }
  };

  it('fails while the database is read-only', () =>
    withStorage(async (storage, client) => {
      const setReadOnly = async (value: 'on' | 'off') => {
        await client.query(`set default_transaction_read_only = off`);
        await client.query(`alter database "${client.database}" set default_transaction_read_only = ${value}`);
      };
      await setReadOnly('on');
      await assert.rejects(storage.ping(), unavailable);
      await setReadOnly('off');
      await storage.ping();
    }));

  it('fails while another session holds the lock of the writers, and writes nothing itself', () =>
    withStorage(async (storage, client) => {
      await client.query('begin; lock table plinth.lock_writes in exclusive mode');
      await assert.rejects(storage.ping(), unavailable);
      await client.query('commit');
      await storage.ping();
      assert.equal((await client.query('select from plinth.changes')).rowCount, 0);
    }));

  it('fails while no connection for a writer can be had', () =>
    withStorage(async (storage, client) => {
      const admin = new pg.Client({ connectionString: server.adminUrl });
      await admin.connect();
      try {
        await admin.query(`alter database "${client.database}" with allow_connections false`);
        await assert.rejects(storage.ping(), unavailable);
        await admin.query(`alter database "${client.database}" with allow_connections true`);
        await storage.ping();
      } finally {
        await admin.end();
      }
    }));
});

describe('WriterHealth', () => {
  const diskFull = (): Error => {
    const error = new pg.DatabaseError('could not extend file: No space left on device', 0, 'error');
    error.code = '53100';
    return error;
  };
  const make = () => {
    const state = { now: 1_000, probes: 0, way: undefined as Error | undefined };
    const probe = async () => {
      state.probes += 1;
      if (state.way !== undefined) throw state.way;
    };
    return { state, health: new WriterHealth(probe, () => state.now) };
  };

  it('believes no batch under way after a failure, until one gets through', async () => {
    const { state, health } = make();
    state.way = new Error('locked');
    await assert.rejects(health.check(), unavailable);
    health.began();
    await assert.rejects(health.check(), unavailable);
    health.failed(new Error('locked'));
    state.way = undefined;
    health.began();
    await assert.rejects(health.check(), unavailable);
    health.passed();
    health.began();
    await health.check();
    health.failed(new Error('locked'));
    // A probe clears the failure too: a process that is not ready receives no writes.
    await health.check();
    health.began();
    await health.check();
  });

  it('probes only when no batch has succeeded lately', async () => {
    const { state, health } = make();
    await Promise.all([health.check(), health.check()]);
    assert.equal(state.probes, 1);
    state.now += 4_000;
    await health.check();
    assert.equal(state.probes, 1);
    health.began();
    health.passed();
    state.now += 4_000;
    await health.check();
    assert.equal(state.probes, 1);
    health.failed(new Error('lost'));
    state.way = new Error('still lost');
    await assert.rejects(health.check(), unavailable);
    state.way = undefined;
    await health.check();
    assert.equal(state.probes, 3);
  });

  it('fails when a batch is stuck, and after one that found the disk full', async () => {
    const { state, health } = make();
    health.began();
    state.now += 2_000;
    await health.check();
    state.now += 2_000;
    await assert.rejects(health.check(), /under way/);
    health.failed(diskFull());
    await assert.rejects(health.check(), /No space left/);
    // After this time the process is ready again: otherwise no write would reach it.
    state.now += 15_000;
    await health.check();
    health.began();
    health.failed(diskFull());
    await assert.rejects(health.check(), unavailable);
    health.began();
    health.passed();
    await health.check();
  });
});
