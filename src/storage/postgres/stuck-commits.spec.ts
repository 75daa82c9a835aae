import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import type { StorageKey } from '../storage-key.js';
import { createPostgresStorage, type PostgresStorage } from './postgres-storage.js';

const key = (name: string): StorageKey => ({ resource: 'things', namespace: 'default', name });

describe('commits that do not end', () => {
  let server: TestPostgres;
  let databaseUrl: string;
  let client: pg.Client;

  before(async () => {
    server = await startTestPostgres({
      settings: { wal_level: 'replica', max_wal_senders: '1', synchronous_commit: 'on' },
    });
  });
  after(() => server.stop());

  const withStorage = async (use: (storage: PostgresStorage) => Promise<void>): Promise<void> => {
    databaseUrl = await server.createTestDatabase();
    client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    const storage = await createPostgresStorage({ databaseUrl });
    try {
      await storage.create(key('first'), 'u', '{}');
      await use(storage);
    } finally {
      await storage.stop();
      await client.end();
    }
  };

  const set = async (setting: string): Promise<void> => {
    await client.query(`alter system ${setting}`);
    await client.query('select pg_reload_conf()');
  };

  /** The connections of the program, by purpose. */
  const connections = async (): Promise<string[]> => {
    const { rows } = await client.query<{ text: string }>(
      `select concat_ws(' ', application_name, state, wait_event, left(query, 60)) as text from pg_stat_activity
       where datname = current_database() and application_name like 'plinth%' order by 1`,
    );
    return rows.map(({ text }) => text);
  };

  it('pile no connections up while the standby is away that every commit waits for', () =>
    withStorage(async (storage) => {
      await set(`set synchronous_standby_names = 'nobody'`);
      try {
        let isAway = true;
        const writing = (async () => {
          for (let i = 0; isAway; i++) await storage.create(key(`n${i}`), 'u', '{}').catch(() => undefined);
        })();
        const reading = (async () => {
          for (; isAway; await sleep(50)) assert.ok((await storage.get(key('first'))) !== undefined);
        })();
        await sleep(21_000);
        const found = await connections();
        isAway = false;
        await set('reset synchronous_standby_names');
        await Promise.all([writing, reading]);
        // Three readers, the listener and the writer; a write and a round of log upkeep whose commits wait; and a
        // session that looks up who holds the lock.
        assert.ok(found.length <= 8, found.join('\n'));
      } finally {
        await set('reset synchronous_standby_names');
      }
    }));

  it('nor do reads and the listener while somebody works on tables for long', () =>
    withStorage(async (storage) => {
      const worker = new pg.Client({ connectionString: databaseUrl });
      await worker.connect();
      try {
        await worker.query('begin; lock table plinth.objects, plinth.retention in access exclusive mode');
        let isLocked = true;
        const reading = Array.from({ length: 6 }, async () => {
          while (isLocked) await storage.get(key('first')).catch(() => undefined);
        });
        await sleep(16_000);
        const found = await connections();
        isLocked = false;
        await worker.query('commit');
        await Promise.all(reading);
        assert.equal((await storage.get(key('first')))?.uid, 'u');
        // Three readers, the listener and the writer; and one connection that is just closing.
        assert.ok(found.length <= 6, found.join('\n'));
      } finally {
        await worker.end();
      }
    }));
});
