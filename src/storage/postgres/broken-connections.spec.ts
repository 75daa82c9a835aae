import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { TcpProxy } from '../../../test/support/tcp-proxy.js';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import { StorageError } from '../storage-error.js';
import type { StorageKey } from '../storage-key.js';
import { collectUpTo, failsWith } from '../testing/storage-contract.js';
import { createPostgresStorage, type PostgresStorage } from './postgres-storage.js';

const key = (name: string): StorageKey => ({ resource: 'things', namespace: 'default', name });

/** The outcomes of the writes of a test, by name of the object. */
interface WriteOutcome {
  readonly written: Map<string, bigint>;
  readonly failed: Set<string>;
  readonly unknown: Set<string>;
}

/** The number of writes that must succeed for the test to mean anything. */
const enough = 6;

/** Creates objects under ever new names from several clients until the work that `beside` starts is done. */
async function createBeside(
  storage: PostgresStorage,
  prefix: string,
  beside: (outcome: WriteOutcome) => Promise<void>,
): Promise<WriteOutcome> {
  let running = true;
  const outcome: WriteOutcome = { written: new Map(), failed: new Set(), unknown: new Set() };
  const other = beside(outcome).finally(() => {
    running = false;
  });
  const client = async (n: number): Promise<void> => {
    for (let i = 0; running; i++) {
      const name = `${prefix}-${n}-${i}`;
      try {
        outcome.written.set(name, (await storage.create(key(name), `uid-${name}`, '{"n":1}')).resourceVersion);
      } catch (error) {
        assert.ok(error instanceof StorageError);
        if (error.code === 'UnknownOutcome') outcome.unknown.add(name);
        else if (error.code === 'Unavailable') outcome.failed.add(name);
        else throw error;
      }
    }
  };
  await Promise.all([other, ...Array.from({ length: 16 }, (_, n) => client(n))]);
  return outcome;
}

/**
 * Every acknowledged write exists once, with the returned version; every failed one is absent; the rest may be either.
 */
async function verify(storage: PostgresStorage, client: pg.Client, outcome: WriteOutcome): Promise<void> {
  const { rows } = await client.query<{ name: string; v: string; n: string }>(
    'select name, min(resource_version) as v, count(*) as n from plinth.changes group by name',
  );
  const log = new Map(rows.map((row) => [row.name, row]));
  const live = new Map((await storage.list({ resource: 'things' })).items.map((item) => [item.key.name, item]));
  for (const [name, version] of outcome.written) {
    assert.equal(live.get(name)?.resourceVersion, version, `${name} was acknowledged`);
    assert.deepEqual(log.get(name), { name, v: String(version), n: '1' });
  }
  for (const name of outcome.failed) {
    assert.equal(live.has(name), false, `${name} was refused but lives`);
    assert.equal(log.has(name), false, `${name} was refused but is in the log`);
  }
  for (const name of outcome.unknown) assert.equal(live.has(name), log.has(name));
  for (const { n, name } of rows) assert.equal(n, '1', `${name} was written twice`);
}

describe('connections that break', () => {
  let server: TestPostgres;
  let databaseUrl: string;
  let client: pg.Client;
  let proxy: TcpProxy;
  let storage: PostgresStorage;

  before(async () => {
    server = await startTestPostgres({ fsync: true });
  });
  after(async () => server.stop());

  const open = async (options: { writeWaitMs?: number; resolveDeadlineMs?: number } = {}): Promise<void> => {
    databaseUrl = await server.createTestDatabase();
    client = new pg.Client({ connectionString: databaseUrl });
    client.on('error', () => {});
    await client.connect();
    proxy = await TcpProxy.start(server.port);
    storage = await createPostgresStorage({ databaseUrl: proxy.through(databaseUrl), ...options });
    // The first write makes the writer connection.
    await storage.create(key('first'), 'u', '{}');
  };
  const close = async (): Promise<void> => {
    await storage.stop();
    await proxy.stop();
    await client.end().catch(() => {});
  };

  /** Waits until the database has the object, without the storage under test. */
  const committed = async (name: string): Promise<bigint> => {
    for (;;) {
      const { rows } = await client.query<{ v: string }>(
        'select resource_version as v from plinth.objects where name = $1',
        [name],
      );
      if (rows[0] !== undefined) return BigInt(rows[0].v);
      await sleep(5);
    }
  };
  const waitingForLock = async (count: number): Promise<void> => {
    for (;;) {
      const { rows } = await client.query<{ n: string }>(
        `select count(*) as n from pg_locks where relation = 'plinth.lock_writes'::regclass and not granted
         and database = (select oid from pg_database where datname = current_database())`,
      );
      if (Number(rows[0]?.n) >= count) return;
      await sleep(5);
    }
  };

  it('stops in time when the database does not answer any more', async () => {
    await open();
    const subscription = await storage.watch({ resource: 'things' }, 1n);
    proxy.holdRequests();
    const underWay = [
      storage.create(key('a'), 'u', '{}'),
      storage.list({ resource: 'things' }),
      storage.get(key('first')),
      storage.head(),
    ].map((call) => call.then(String, (error: StorageError) => error.code));
    const began = performance.now();
    await storage.stop(500);
    // Without the limit, reads may take half a minute. The rest of the time is for a busy machine.
    assert.ok(performance.now() - began < 20_000, `${performance.now() - began} ms`);
    for (const outcome of await Promise.all(underWay)) assert.match(outcome, /^(Closed|UnknownOutcome|Unavailable)$/);
    subscription.close();
    await proxy.stop();
    await client.end().catch(() => {});
  });

  it('lose no version numbers when the connection of the writer is lost', async () => {
    await open();
    try {
      const versions: bigint[] = [];
      for (const name of ['a', 'b', 'c', 'd']) {
        await client.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where application_name = 'plinth writer' and datname = current_database()`,
        );
        versions.push((await storage.create(key(name), 'u', '{}')).resourceVersion);
      }
      const [first = 0n] = versions;
      assert.ok((versions.at(-1) ?? 0n) < first + 100n, String(versions));
      assert.equal((await client.query('select from plinth.epoch_changes')).rowCount, 0);
      assert.equal((await client.query('select from plinth.change_partitions')).rowCount, 4);
    } finally {
      await close();
    }
  });

  it('acknowledges a write whose answer was lost', async () => {
    await open();
    try {
      proxy.holdAnswers();
      const write = storage.create(key('a'), 'u', '{}');
      const version = await committed('a');
      proxy.cut();
      assert.equal((await write).resourceVersion, version);
    } finally {
      await close();
    }
  });

  it('repeats a write that never arrived', async () => {
    await open();
    try {
      proxy.holdRequests();
      const write = storage.create(key('a'), 'u', '{}');
      // After one turn of the event loop the request has been sent; the proxy never forwards it.
      await sleep(20);
      assert.equal((await client.query(`select from plinth.objects where name = 'a'`)).rowCount, 0);
      proxy.cut();
      const { resourceVersion } = await write;
      assert.equal((await storage.get(key('a')))?.resourceVersion, resourceVersion);
    } finally {
      await close();
    }
  });

  it('never runs a batch twice when the old backend still waits for the lock', async () => {
    await open();
    try {
      await client.query('begin');
      await client.query('lock table plinth.lock_writes in exclusive mode');
      const write = storage.create(key('a'), 'u', '{}');
      await waitingForLock(1);
      proxy.cut();
      // The server does not notice that its client has disconnected, so the old call and the later lookup both wait for
      // the lock.
      await waitingForLock(2);
      await client.query('commit');
      const { resourceVersion } = await write;
      const { rows } = await client.query<{ v: string }>(
        `select resource_version as v from plinth.changes where name = 'a'`,
      );
      assert.deepEqual(rows, [{ v: String(resourceVersion) }]);
    } finally {
      await close();
    }
  });

  it('says UnknownOutcome when the outcome can not be learned in time, and goes on afterwards', async () => {
    await open({ resolveDeadlineMs: 500, writeWaitMs: 300 });
    try {
      proxy.holdAnswers();
      const write = assert.rejects(storage.create(key('a'), 'u', '{}'), failsWith('UnknownOutcome'));
      await committed('a');
      proxy.cut(true);
      await write;
      await assert.rejects(storage.create(key('b'), 'u', '{}'), failsWith('Unavailable'));
      proxy.cut(false);
      for (;;) {
        const healed = await storage.create(key('c'), 'u', '{}').catch(() => undefined);
        if (healed !== undefined) break;
      }
      assert.equal(await storage.get(key('b')), undefined);
    } finally {
      await close();
    }
  });

  it('does not repeat a write that the log has forgotten', async () => {
    await open();
    try {
      proxy.holdAnswers();
      const write = assert.rejects(storage.create(key('a'), 'u', '{}'), failsWith('UnknownOutcome'));
      await committed('a');
      // Does what log upkeep would do while a process is suspended for minutes.
      await client.query(
        `select setval('plinth.resource_version', upper, false) from plinth.change_partitions where lower = 0`,
      );
      await client.query('select plinth.add_change_partitions(3)');
      await client.query(
        'update plinth.retention r set closed = p.upper - 1, compact_revision = p.upper - 1 from plinth.change_partitions p where p.lower = 0',
      );
      await client.query('alter table plinth.changes detach partition plinth.changes_0; drop table plinth.changes_0');
      await client.query('delete from plinth.change_partitions where lower = 0');
      // With the object deleted, a repeated create would succeed.
      await client.query(`delete from plinth.objects where name = 'a'`);
      proxy.cut();
      await write;
      assert.equal(await storage.get(key('a')), undefined);
    } finally {
      await close();
    }
  });

  it('gives a silent connection up after the deadline', async () => {
    await open({ resolveDeadlineMs: 600 });
    try {
      proxy.holdAnswers();
      const write = storage.create(key('a'), 'u', '{}');
      write.catch(() => {});
      const version = await committed('a');
      const healed = sleep(700).then(() => proxy.cut());
      const outcome = await write.then(
        (object) => object.resourceVersion,
        (error: StorageError) => error.code,
      );
      await healed;
      assert.ok(outcome === version || outcome === 'UnknownOutcome', String(outcome));
    } finally {
      await close();
    }
  });

  it('answers every write truthfully while backends are killed', async () => {
    await open();
    try {
      let killed = 0;
      const outcome = await createBeside(storage, 'k', async ({ written }) => {
        // A busy machine may need more time, and longer pauses.
        const isEnough = () => killed >= enough && written.size >= enough;
        for (let i = 0; i < 60 || (i < 1_000 && !isEnough()); i++) {
          await sleep(20 + (i % 7) * 5 + Math.max(0, i - 60) * 5);
          const { rowCount } = await client.query(
            `select pg_terminate_backend(pid) from pg_stat_activity
             where datname = current_database() and application_name like 'plinth%'`,
          );
          killed += rowCount ?? 0;
        }
      });
      assert.ok(killed >= enough, `${killed} backends`);
      assert.ok(outcome.written.size >= enough, `${outcome.written.size} writes`);
      await verify(storage, client, outcome);
    } finally {
      await close();
    }
  });

  it('answers every write truthfully while sockets are cut', async () => {
    await open();
    try {
      const outcome = await createBeside(storage, 'c', async ({ written }) => {
        // A busy machine may need more time, and longer pauses.
        for (let i = 0; i < 60 || (i < 1_000 && written.size < enough); i++) {
          if (i % 3 === 0) proxy.holdAnswers();
          await sleep(10 + (i % 5) * 5);
          proxy.cut();
          await sleep(20 + Math.max(0, i - 60) * 5);
        }
      });
      assert.ok(outcome.written.size >= enough, `${outcome.written.size} writes`);
      await verify(storage, client, outcome);
    } finally {
      await close();
    }
  });

  it('goes on by itself after the server crashed and came back, with an exact watch', async () => {
    await open({ writeWaitMs: 2_000 });
    try {
      const from = await storage.head();
      const subscription = await storage.watch({ resource: 'things' }, from);
      const outcome = await createBeside(storage, 's', async ({ written }) => {
        for (let i = 0; i < 2; i++) {
          await sleep(300);
          await server.shutDown('immediate');
          await sleep(200);
          await server.startAgain();
        }
        await sleep(300);
        while (written.size < enough) await sleep(20);
      });
      client = new pg.Client({ connectionString: databaseUrl });
      await client.connect();
      await verify(storage, client, outcome);
      const changes = await collectUpTo(subscription, await storage.head());
      const { rows } = await client.query<{ v: string }>(
        'select resource_version as v from plinth.changes where resource_version > $1 order by 1',
        [from],
      );
      assert.deepEqual(
        changes.map((change) => String(change.resourceVersion)),
        rows.map((row) => row.v),
      );
    } finally {
      await close();
    }
  });
});
