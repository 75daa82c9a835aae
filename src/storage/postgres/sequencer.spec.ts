import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { TcpProxy } from '../../../test/support/tcp-proxy.js';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import { InvariantError } from '../../base/machinery/invariant-error.js';
import { StorageError } from '../storage-error.js';
import type { StorageKey } from '../storage-key.js';
import { remove } from '../testing/storage-contract.js';
import { COUNTER, type WriterMessage, type WriterTask } from '../testing/writer-process.js';
import { guaranteedUpdate } from './guaranteed-update.js';
import { createPostgresStorage } from './postgres-storage.js';
import { silentObserver } from './postgres-storage-options.js';
import { type QueuedWrite, WriteQueue } from './write-queue.js';

const WRITER = new URL('../testing/writer-process.js', import.meta.url);

interface Writer {
  readonly ready: Promise<void>;
  start(): void;
  /** Number of writes made. */
  readonly done: Promise<number>;
}

function spawnWriter(task: WriterTask): Writer {
  const child = fork(WRITER, [JSON.stringify(task)]);
  const message = <K extends WriterMessage['kind']>(kind: K): Promise<Extract<WriterMessage, { kind: K }>> =>
    new Promise((resolve, reject) => {
      child.on('message', (received: WriterMessage) => {
        if (received.kind === kind) resolve(received as Extract<WriterMessage, { kind: K }>);
      });
      child.on('exit', (code) => reject(new Error(`writer process ended with ${code}`)));
    });
  const done = message('done').then(({ written }) => written);
  return { ready: message('ready').then(() => {}), start: () => child.send('go'), done };
}

describe('writes of several processes', () => {
  let server: TestPostgres;
  before(async () => {
    server = await startTestPostgres();
  });
  after(async () => server.stop());

  const query = async (url: string, text: string): Promise<Record<string, string>[]> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query<Record<string, string>>(text)).rows;
    } finally {
      await client.end();
    }
  };

  it('to one object: one wins per version, none is lost', async () => {
    const databaseUrl = await server.createTestDatabase();
    const storage = await createPostgresStorage({ databaseUrl });
    await storage.create(COUNTER, 'u', '0');
    const writers = [1, 2].map(() => spawnWriter({ kind: 'increment', databaseUrl, times: 100, clients: 2 }));
    await Promise.all(writers.map((writer) => writer.ready));
    for (const writer of writers) writer.start();
    await Promise.all(writers.map((writer) => writer.done));
    assert.equal((await storage.get(COUNTER))?.json, '400');
    await storage.stop();
    const log = await query(
      databaseUrl,
      'select data, previous, resource_version, previous_version from plinth.changes order by resource_version',
    );
    assert.equal(log.length, 401);
    for (let i = 1; i < log.length; i++) {
      assert.equal(Number(log[i]?.data), i);
      assert.equal(log[i]?.previous_version, log[i - 1]?.resource_version);
    }
  });

  it('are not judged by an answer that is older than they are', async () => {
    const databaseUrl = await server.createTestDatabase();
    const proxy = await TcpProxy.start(server.port);
    const storage = await createPostgresStorage({ databaseUrl: proxy.through(databaseUrl) });
    const other = await createPostgresStorage({ databaseUrl });
    const key = (name: string) => ({ resource: 'things', namespace: '', name });
    try {
      // The writer connection must exist before responses are held back.
      await storage.create(key('before'), 'u', '0');
      proxy.holdAnswers();
      const late = storage.create(key('a'), 'u', '1');
      const arrived = async () => (await other.get(key('a'))) !== undefined;
      while (!(await arrived())) await new Promise((resolve) => setImmediate(resolve));
      // The write was made, but the process does not know it yet. It must take later writes of others as newer.
      await remove(other, key('a'));
      const again = storage.create(key('a'), 'u', '2');
      proxy.release();
      await late;
      const { resourceVersion } = await again;
      assert.equal((await other.get(key('a')))?.resourceVersion, resourceVersion);
    } finally {
      await storage.stop();
      await other.stop();
      await proxy.stop();
    }
  });

  it('become visible in version order', async () => {
    const databaseUrl = await server.createTestDatabase();
    const [processes, clients, times] = [8, 4, 100];
    const writers = Array.from({ length: processes }, (_, i) =>
      spawnWriter({ kind: 'create', databaseUrl, prefix: `p${i}`, times, clients }),
    );
    await Promise.all(writers.map((writer) => writer.ready));
    const reader = new pg.Client({ connectionString: databaseUrl });
    await reader.connect();
    let running = true;
    const seen: bigint[] = [];
    const tail = (async () => {
      let cursor = 0n;
      for (let last = false; !last; ) {
        last = !running;
        const { rows } = await reader.query<{ v: string }>(
          'select resource_version as v from plinth.changes where resource_version > $1 order by 1',
          [cursor],
        );
        for (const row of rows) seen.push(BigInt(row.v));
        cursor = seen.at(-1) ?? 0n;
      }
    })();
    for (const writer of writers) writer.start();
    const written = (await Promise.all(writers.map((writer) => writer.done))).reduce((a, b) => a + b, 0);
    running = false;
    await tail;
    await reader.end();
    assert.equal(written, processes * clients * times);
    const [all] = await query(databaseUrl, 'select count(*) as count from plinth.changes');
    assert.equal(Number(all?.count), written);
    assert.equal(seen.length, written, 'a version appeared below one that was passed already');
  });
});

describe('write_batch', () => {
  let server: TestPostgres;
  let client: pg.Client;
  before(async () => {
    server = await startTestPostgres();
    client = new pg.Client({ connectionString: await server.createTestDatabase() });
    await client.connect();
  });
  after(async () => {
    await client.end();
    await server.stop();
  });

  const create = (batch: number, name: string): Promise<pg.QueryResult> =>
    client.query(
      `select * from plinth.write_batch(null, $1, '{0}', null, '{things}', '{}'::text[] || ''::text, array[$2], '{u}', '{null}',
        '{1}', null, null, null, true)`,
      [batch, name],
    );

  it('refuses a batch that was given up, and reports what a batch wrote', async () => {
    await create(1, 'a');
    const wrote = await client.query('select name from plinth.resolve_batch(1, 0)');
    assert.deepEqual(wrote.rows, [{ name: 'a' }]);
    assert.equal((await client.query('select * from plinth.resolve_batch(2, 0)')).rowCount, 0);
    await assert.rejects(create(2, 'b'), { code: 'PL001' });
    assert.equal((await client.query(`select from plinth.objects where name = 'b'`)).rowCount, 0);
  });

  it('refuses to run under a snapshot older than the lock', async () => {
    await client.query('begin isolation level repeatable read');
    await assert.rejects(create(3, 'c'), { code: 'PL002' });
    await client.query('rollback');
  });

  it('keeps to the primary key whatever the statistics say', async () => {
    await client.query('set track_functions = none');
    await client.query(
      `insert into plinth.objects select 'filler', '', i::text, 'u', 1, '{}' from generate_series(1, 20000) i`,
    );
    await client.query('select pg_stat_force_next_flush()').catch(() => {});
    const scans = async (): Promise<number> => {
      await client.query('select 1');
      const { rows } = await client.query<{ n: string }>(
        `select coalesce(pg_stat_get_xact_numscans('plinth.objects'::regclass), 0) as n`,
      );
      return Number(rows[0]?.n);
    };
    await client.query('begin');
    const before = await scans();
    await create(4, 'd');
    assert.equal((await scans()) - before, 0, 'a sequential scan of plinth.objects');
    await client.query('rollback');
  });
});

describe('invariants of the sequencer', () => {
  let server: TestPostgres;
  before(async () => {
    server = await startTestPostgres();
  });
  after(() => server.stop());

  const keyOf = (name: string): StorageKey => ({ resource: 'things', namespace: '', name });

  /** Opens a store and records the errors that it reports. */
  const open = async () => {
    const databaseUrl = await server.createTestDatabase();
    const faults: unknown[] = [];
    const backgroundError = (_where: string, error: unknown) => void faults.push(error);
    const storage = await createPostgresStorage({ databaseUrl, observer: { ...silentObserver, backgroundError } });
    return { databaseUrl, storage, faults };
  };

  it('keep two writes of a key from sharing a batch: none of them is made, and others go on', async (test) => {
    const { storage, faults } = await open();
    const everything = function (this: WriteQueue): QueuedWrite[] {
      return (this as unknown as { writes: QueuedWrite[] }).writes.splice(0);
    };
    const take = test.mock.method(WriteQueue.prototype, 'take', everything);
    const answers = await Promise.allSettled(['1', '2'].map((json) => storage.create(keyOf('a'), 'u', json)));
    take.mock.restore();
    for (const answer of answers) {
      assert.ok(answer.status === 'rejected' && answer.reason instanceof InvariantError, JSON.stringify(answer));
    }
    assert.ok(faults.length === 1 && faults[0] instanceof InvariantError);
    assert.equal(await storage.get(keyOf('a')), undefined);
    await storage.create(keyOf('a'), 'u', '3');
    await storage.stop();
  });

  it('doubt a version that is not newer than all before it, and check the history before the next write', async () => {
    const { databaseUrl, storage, faults } = await open();
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    await client.query('alter function plinth.write_batch rename to true_batch');
    const { rows } = await client.query<{ parameters: string; returned: string }>(
      `select pg_get_function_arguments(oid) as parameters, pg_get_function_result(oid) as returned from pg_proc
       where proname = 'true_batch'`,
    );
    const passed = Array.from({ length: 14 }, (_, i) => `$${i + 1}`).join(', ');
    await client.query(
      `create function plinth.write_batch(${rows[0]?.parameters}) returns ${rows[0]?.returned} language sql as $$
         select index, case index when 0 then coalesce(version, 0) + 1000 else version end, current_uid,
           current_version, current_data from plinth.true_batch(${passed}) $$`,
    );
    await assert.rejects(storage.create(keyOf('a'), 'u', '1'), (error: StorageError) => {
      assert.equal(error.code, 'UnknownOutcome');
      return error.cause instanceof InvariantError;
    });
    assert.ok(faults.length === 1 && faults[0] instanceof InvariantError);
    await client.query('drop function plinth.write_batch; alter function plinth.true_batch rename to write_batch');
    await client.end();
    const { resourceVersion } = (await storage.get(keyOf('a'))) ?? {};
    const next = await storage.create(keyOf('b'), 'u', '2');
    assert.ok(resourceVersion !== undefined && next.resourceVersion > resourceVersion);
    await storage.stop();
  });

  it('refuse an update whose version is not newer than the one it replaces', async () => {
    const current = { key: keyOf('a'), uid: 'u', resourceVersion: 5n, json: '1' };
    const store = {
      get: async () => current,
      write: async () => ({ kind: 'written', resourceVersion: 5n }) as const,
    };
    const update = guaranteedUpdate(store, current.key, {}, () => ({ kind: 'write', json: '2', uid: 'u' }));
    await assert.rejects(update, InvariantError);
  });
});

describe('a StorageError of a write', () => {
  it('says when the database is out of reach', async () => {
    const server = await startTestPostgres({ fsync: false });
    const databaseUrl = await server.createTestDatabase();
    const storage = await createPostgresStorage({ databaseUrl, writeWaitMs: 400, resolveDeadlineMs: 400 });
    try {
      await server.shutDown('fast');
      const keyOf = (name: string) => ({ resource: 'things', namespace: '', name });
      const key = keyOf('a');
      const took: number[] = [];
      const rejects = async (...[call, expected]: Parameters<typeof assert.rejects>) => {
        const began = performance.now();
        await assert.rejects(call, expected as object);
        took.push(performance.now() - began);
      };
      await rejects(storage.create(key, 'u', '{}'), (error: StorageError) => {
        // The first write may have used the connection while it was breaking.
        assert.ok(error.code === 'Unavailable' || error.code === 'UnknownOutcome', error.code);
        return error instanceof StorageError;
      });
      await rejects(storage.create(key, 'u', '{}'), { code: 'Unavailable' });
      await rejects(storage.get(key), { code: 'Unavailable' });
      // Each call would wait for five seconds by default. A busy machine delays one or the other for as long.
      assert.ok(Math.min(...took) < 4_000, String(took));
      await server.startAgain();
      // Pauses between attempts are longer than a write waits here, and a busy server may respond later than that, so
      // more than one write may be needed until one succeeds.
      const deadline = performance.now() + 60_000;
      let found: StorageKey | undefined;
      for (let i = 0; found === undefined; i++) {
        const next = keyOf(`b${i}`);
        const failure: unknown = await storage.create(next, 'u', '{"n":1}').then(
          () => undefined,
          (error: unknown) => error,
        );
        if (failure === undefined) found = next;
        else {
          assert.ok(
            failure instanceof StorageError && /^(Unavailable|UnknownOutcome)$/.test(failure.code),
            String(failure),
          );
          assert.ok(performance.now() < deadline, 'the database was not found again');
        }
      }
      let json: string | undefined;
      while (json === undefined) {
        json = (await storage.get(found).catch(() => undefined))?.json;
        assert.ok(performance.now() < deadline, 'the object was not read');
      }
      assert.equal(json, '{"n":1}');
    } finally {
      await storage.stop();
      await server.stop();
    }
  });
});
