import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { HubMachine } from '../../../test/support/hub-machine.js';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import { createPostgresStorage, type PostgresStorage } from '../postgres/postgres-storage.js';
import { collectUpTo, failsWith, put, storageContract } from '../testing/storage-contract.js';

let server: TestPostgres;
before(async () => {
  server = await startTestPostgres({ fsync: false });
});
after(() => server.stop());

const readsDirectly = true;
const keyOf = (name: string) => ({ resource: 'things', namespace: 'default', name });

async function useMachine(work: (machine: HubMachine) => Promise<void>): Promise<void> {
  await HubMachine.use(await server.createTestDatabase(), work);
}

describe('the store by way of a hub, with reads of its own', () => {
  storageContract(async () => {
    const machine = await HubMachine.start(await server.createTestDatabase());
    return { storage: await machine.store({ readsDirectly }), stop: () => machine.stop() };
  });
});

describe('stores with reads of their own', () => {
  it('see what they, others of the machine and other machines wrote, in order', () =>
    useMachine(async (machine) => {
      const stores = [
        await machine.store({ readsDirectly }),
        await machine.store(),
        await machine.store({ readsDirectly }),
      ];
      const foreign = await createPostgresStorage({ databaseUrl: machine.databaseUrl });
      try {
        const all: PostgresStorage[] = [...stores, foreign];
        const from = await foreign.head();
        const watches = await Promise.all(all.map((store) => store.watch({ resource: 'things' }, from)));
        const rounds = 40;
        await Promise.all(
          all.map(async (store, w) => {
            for (let i = 0; i < rounds; i++) {
              await store.guaranteedUpdate(keyOf(`${w}`), { ignoreNotFound: true }, () => ({
                kind: 'write',
                json: JSON.stringify({ i }),
                uid: `u-${w}`,
              }));
              const reader = all[(w + i) % all.length] as PostgresStorage;
              assert.equal((await reader.get(keyOf(`${w}`)))?.json, JSON.stringify({ i }));
            }
          }),
        );
        const head = await foreign.head();
        const seen = await Promise.all(watches.map((watch) => collectUpTo(watch, head)));
        assert.equal(seen[0]?.length, rounds * all.length);
        for (const changes of seen) assert.deepEqual(changes, seen[0]);
      } finally {
        await foreign.stop();
      }
    }));

  it('read on connections of their own, at most as many as they may have', () =>
    useMachine(async (machine) => {
      const store = await machine.store({ readsDirectly });
      await Promise.all(Array.from({ length: 30 }, (_, i) => store.list({ resource: `things-${i}` })));
      const client = new pg.Client({ connectionString: machine.databaseUrl });
      await client.connect();
      const { rows } = await client.query(
        `select count(*)::int as n from pg_stat_activity
           where datname = current_database() and application_name = 'plinth worker'`,
      );
      await client.end();
      assert.ok(rows[0].n >= 1 && rows[0].n <= 3, String(rows[0].n));
    }));

  it('let the hub see each version before the reader of it goes on', () =>
    useMachine(async (machine) => {
      const store = await machine.store({ readsDirectly });
      const foreign = await createPostgresStorage({ databaseUrl: machine.databaseUrl });
      for (let i = 0; i < 20; i++) {
        const { resourceVersion } = await foreign.create(keyOf(`n-${i}`), `u-${i}`, '{}');
        await Promise.all([store.get(keyOf(`n-${i}`)), store.head()]);
        assert.ok(machine.knownVersion >= resourceVersion);
      }
      await foreign.stop();
    }));

  it('learn of a lost part of the history, and refuse versions in it', () =>
    useMachine(async (machine) => {
      const store = await machine.store({ readsDirectly });
      await store.create(keyOf('a'), 'u', '{}');
      const before = store.epoch?.epoch as bigint;
      const head = await store.head();
      const client = new pg.Client({ connectionString: machine.databaseUrl });
      await client.connect();
      await client.query('select plinth.fence(1000)');
      await client.end();
      await put(store, keyOf('a'), '{"n":1}');
      assert.ok((store.epoch?.epoch as bigint) > before);
      await assert.rejects(store.list({ resource: 'things', at: head }), failsWith('Expired'));
    }));

  it('have the history checked when a read leaps ahead', () =>
    useMachine(async (machine) => {
      const store = await machine.store({ readsDirectly });
      await store.create(keyOf('a'), 'u', '{}');
      const before = store.epoch?.epoch as bigint;
      const head = await store.head();
      const client = new pg.Client({ connectionString: machine.databaseUrl });
      await client.connect();
      await client.query('select plinth.fence(2000000000)');
      await client.end();
      const later = await store.head();
      assert.ok(later - head >= 1_000_000_000n, `${head} ${later}`);
      assert.ok((store.epoch?.epoch as bigint) > before);
      assert.ok(machine.knownVersion >= later);
    }));

  it('fail with the hub', () =>
    useMachine(async (machine) => {
      const store = await machine.store({ readsDirectly });
      await store.create(keyOf('a'), 'u', '{}');
      assert.equal((await store.get(keyOf('a')))?.json, '{}');
      await machine.stopHub();
      await assert.rejects(store.get(keyOf('a')), failsWith('Unavailable'));
    }));

  it('close with the store', () =>
    useMachine(async (machine) => {
      const store = await machine.store({ readsDirectly });
      await store.create(keyOf('a'), 'u', '{}');
      await store.get(keyOf('a'));
      await store.stop();
      await assert.rejects(store.get(keyOf('a')), failsWith('Closed'));
    }));
});
