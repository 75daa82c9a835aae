import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { HubMachine } from '../../../test/support/hub-machine.js';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import { CachedStorage } from '../cacher/cached-storage.js';
import { Encryption } from '../encryption/encryption.js';
import { AesGcmProvider } from '../encryption/providers/aes-gcm-provider.js';
import { MigrationError } from '../postgres/migration-error.js';
import { createPostgresStorage, type PostgresStorage } from '../postgres/postgres-storage.js';
import type { Change } from '../storage.interface.js';
import { StorageError } from '../storage-error.js';
import { collectUpTo, failsWith, put, storageContract } from '../testing/storage-contract.js';
import type { HubDatabase } from './hub-database.js';

let server: TestPostgres;
before(async () => {
  server = await startTestPostgres({ fsync: false });
});
after(() => server.stop());

/** Records the changes that the machine's batches bring to a store from now on. */
function changesBroughtTo(store: PostgresStorage): Change[] {
  const { database } = store as unknown as { database: HubDatabase };
  const brought: Change[] = [];
  const { heard } = database;
  database.heard = (written) => {
    brought.push(...(written.stretch?.changes ?? []));
    heard.call(database, written);
  };
  return brought;
}

const startMachine = async () => HubMachine.start(await server.createTestDatabase());
const useMachine = async (work: (machine: HubMachine) => Promise<void>) =>
  HubMachine.use(await server.createTestDatabase(), work);
const keyOf = (name: string, resource = 'things') => ({ resource, namespace: 'default', name });

describe('the store by way of a hub', () => {
  storageContract(async () => {
    const machine = await startMachine();
    return { storage: await machine.store(), stop: () => machine.stop() };
  });
});

describe('the store by way of a hub, encrypted', () => {
  storageContract(async () => {
    const sealing = new Encryption([
      { resources: ['*.*'], providers: [new AesGcmProvider('key', randomBytes(32)), 'identity'] },
    ]);
    const machine = await startMachine();
    return { storage: await machine.store({ sealing }), stop: () => machine.stop() };
  });
});

describe('the cached store by way of a hub', () => {
  storageContract(async () => {
    const machine = await startMachine();
    const storage = new CachedStorage(await machine.store());
    return {
      storage,
      stop: async () => {
        await storage.stop();
        await machine.stop();
      },
    };
  });
});

describe('stores that share a hub', () => {
  it('see what each other and other machines write at once, in order, without a gap', () =>
    useMachine(async (machine) => {
      const stores = await Promise.all([machine.store(), machine.store(), machine.store()]);
      const foreign = await createPostgresStorage({ databaseUrl: machine.databaseUrl });
      try {
        const writers = [...stores, foreign];
        const from = await foreign.head();
        const watches = await Promise.all(writers.map((store) => store.watch({ resource: 'things' }, from)));
        const rounds = 60;
        await Promise.all(
          writers.map(async (store, w) => {
            for (let i = 0; i < rounds; i++) {
              const key = keyOf(`${w}-${i % 7}`);
              await store.guaranteedUpdate(key, { ignoreNotFound: true }, () => ({
                kind: 'write',
                json: JSON.stringify({ w, i }),
                uid: `u-${w}-${i % 7}`,
              }));
              // Any read after the response sees the write.
              const reader = writers[(w + i) % writers.length] as PostgresStorage;
              assert.equal((await reader.get(key))?.json, JSON.stringify({ w, i }));
            }
          }),
        );
        const head = await foreign.head();
        const seen = await Promise.all(watches.map((watch) => collectUpTo(watch, head)));
        assert.equal(seen[0]?.length, rounds * writers.length);
        for (const changes of seen) assert.deepEqual(changes, seen[0]);
      } finally {
        await foreign.stop();
      }
    }));

  it('write in common batches, and read nothing from the log that the machine wrote itself', () =>
    useMachine(async (machine) => {
      const [one, two] = [await machine.store(), await machine.store()];
      const from = await one.head();
      const watch = await two.watch({ resource: 'things' }, from);
      const client = new pg.Client({ connectionString: machine.databaseUrl });
      await client.connect();
      // The id that the next writing transaction gets.
      const next = async (): Promise<number> => {
        const { rows } = await client.query('select pg_snapshot_xmax(pg_current_snapshot())::text::int as n');
        return rows[0].n;
      };
      const before = await next();
      const count = 400;
      await Promise.all(
        Array.from({ length: count }, (_, i) => (i % 2 === 0 ? one : two).create(keyOf(`n-${i}`), `u-${i}`, '{}')),
      );
      const changes = await collectUpTo(watch, await one.head());
      assert.equal(changes.length, count);
      // A transaction for each write would be four hundred transactions.
      const transactions = (await next()) - before;
      assert.ok(transactions > 0 && transactions < 100, `${transactions} transactions`);
      await client.end();
    }));

  it('bring nobody changes that nobody follows there, and all to those who begin to follow', () =>
    useMachine(async (machine) => {
      const [one, two] = [await machine.store(), await machine.store()];
      const other = await two.watch({ resource: 'others' }, await two.head());
      const brought = changesBroughtTo(two);
      const write = (name: string) => one.create(keyOf(name), `u-${name}`, '{}');
      for (let i = 0; i < 20; i++) await write(`before-${i}`);
      await collectUpTo(other, await one.head());
      assert.equal(brought.length, 0);
      for (let round = 0; round < 10; round++) {
        const from = await one.head();
        const names = Array.from({ length: 8 }, (_, i) => `${round}-${i}`);
        const writes = Promise.all(names.map(write));
        // The watch begins between two batches. It is closed before the next round, which again begins without a
        // follower.
        const watch = await two.watch({ resource: 'things' }, from);
        await writes;
        const seen = await collectUpTo(watch, await one.head());
        assert.deepEqual(seen.map(({ key }) => key.name).sort(), names);
        watch.close();
      }
      // The hub learns of the watch a little later, and from then on sends every change.
      const watch = await two.watch({ resource: 'things' }, await two.head());
      const known = brought.length;
      for (let i = 0; brought.length === known; i++) {
        await write(`follow-${i}`);
        await collectUpTo(watch, await one.head());
      }
    }));

  it('hear of what another machine writes during a batch that concerns no watch', { timeout: 60_000 }, () =>
    useMachine(async (machine) => {
      // The poll is too rare to find anything during the test.
      const store = await machine.store({ notifyPollMs: 600_000 });
      const foreign = await createPostgresStorage({ databaseUrl: machine.databaseUrl });
      const admin = new pg.Client({ connectionString: machine.databaseUrl });
      await admin.connect();
      const waitingWrites = async (): Promise<number> => {
        const { rows } = await admin.query(
          `select count(*)::int as n from pg_locks where not granted and relation = 'plinth.lock_writes'::regclass
           and database = (select oid from pg_database where datname = current_database())`,
        );
        return rows[0].n;
      };
      const holder = new pg.Client({ connectionString: machine.databaseUrl });
      await holder.connect();
      try {
        const watch = await store.watch({ resource: 'things' }, await store.head());
        for (let round = 0; round < 5; round++) {
          await holder.query('begin; lock table plinth.lock_writes in exclusive mode');
          const name = `round-${round}`;
          const theirs = foreign.create(keyOf(name), 'u', '{}');
          while ((await waitingWrites()) < 1);
          const ours = store.create(keyOf(name, 'others'), 'u', '{}');
          while ((await waitingWrites()) < 2);
          await holder.query('rollback');
          const [{ resourceVersion }] = await Promise.all([theirs, ours]);
          let batch = await watch.next();
          while (batch?.changes.length === 0) batch = await watch.next();
          assert.deepEqual(
            batch?.changes.map((change) => change.resourceVersion),
            [resourceVersion],
          );
        }
      } finally {
        await Promise.all([foreign.stop(), admin.end(), holder.end()]);
      }
    }),
  );

  it('report to the writer how far the log is known, so that it looks for a lost batch only behind that', () =>
    useMachine(async (machine) => {
      const store = await machine.store();
      const foreign = await createPostgresStorage({ databaseUrl: machine.databaseUrl });
      const { resourceVersion } = await foreign.create(keyOf('a'), 'u', '{}');
      await foreign.stop();
      await store.head();
      assert.ok(machine.knownVersion >= resourceVersion);
    }));

  it('keep encrypted texts to themselves', () =>
    useMachine(async (machine) => {
      const key = new AesGcmProvider('one', randomBytes(32));
      const sealing = () => new Encryption([{ resources: ['secrets'], providers: [key] }]);
      const [one, two, keyless] = [
        await machine.store({ sealing: sealing() }),
        await machine.store({ sealing: sealing() }),
        await machine.store(),
      ];
      const from = await one.head();
      const watch = await two.watch({ resource: 'secrets' }, from);
      await one.create(keyOf('a', 'secrets'), 'u', '{"data":1}');
      await put(two, keyOf('a', 'secrets'), '{"data":2}');
      const changes = await collectUpTo(watch, await one.head());
      assert.deepEqual(
        changes.map(({ json }) => json),
        ['{"data":1}', '{"data":2}'],
      );
      await assert.rejects(keyless.get(keyOf('a', 'secrets')), failsWith('Unreadable'));
      // The error of a refused write contains the conflicting object.
      await assert.rejects(one.create(keyOf('a', 'secrets'), 'v', '{}'), failsWith('KeyExists'));
    }));

  it('go on when the process of one of them ends in the middle of its writes', () =>
    useMachine(async (machine) => {
      const one = await machine.store();
      const two = await machine.store();
      const writes = Array.from({ length: 50 }, (_, i) => two.create(keyOf(`lost-${i}`), `u-${i}`, '{}'));
      machine.cut();
      const outcomes = await Promise.allSettled(writes);
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') assert.equal((outcome.reason as StorageError).code, 'UnknownOutcome');
      }
      await assert.rejects(two.head(), failsWith('Unavailable'));
      await one.create(keyOf('after'), 'u', '{}');
      assert.equal((await one.get(keyOf('after')))?.json, '{}');
    }));

  it('learn of a lost part of the history, and refuse versions in it', () =>
    useMachine(async (machine) => {
      const one = await machine.store();
      await one.create(keyOf('a'), 'u', '{}');
      const before = one.epoch?.epoch as bigint;
      const head = await one.head();
      const watch = await one.watch({ resource: 'things' }, head);
      const client = new pg.Client({ connectionString: machine.databaseUrl });
      await client.connect();
      await client.query('select plinth.fence(1000)');
      await client.end();
      await put(one, keyOf('a'), '{"n":1}');
      assert.ok((one.epoch?.epoch as bigint) > before);
      const untilEnd = async () => {
        while ((await watch.next()) !== undefined);
      };
      await assert.rejects(untilEnd, failsWith('Expired'));
      await assert.rejects(one.list({ resource: 'things', at: head }), failsWith('Expired'));
    }));

  it('fail writes as unknown and reads as unavailable when the hub ends, and close calls when they end themselves', () =>
    useMachine(async (machine) => {
      const store = await machine.store();
      await store.create(keyOf('a'), 'u', '{}');
      await machine.stopHub();
      await assert.rejects(store.get(keyOf('a')), failsWith('Unavailable'));
      await store.stop();
      await assert.rejects(store.create(keyOf('b'), 'u', '{}'), failsWith('Closed'));
    }));

  it('report why the database can not be used', async () => {
    const client = new pg.Client({ connectionString: await server.createTestDatabase() });
    await client.connect();
    await client.query('drop schema plinth cascade');
    const { host, port, user, database } = client;
    await client.end();
    const machine = await HubMachine.start(`postgres://${user}@${host}:${port}/${database}`);
    try {
      const store = await machine.unstarted();
      await assert.rejects(store.start(), (error) => error instanceof MigrationError || error instanceof StorageError);
    } finally {
      await machine.stop();
    }
  });
});
