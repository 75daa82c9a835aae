import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { serverAuth, TestIdentity } from '../../../test/support/test-authority.js';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import { bigintArray, smallintArray, textArray } from './binary-array.js';
import { failureKind } from './postgres-errors.js';
import { silentObserver } from './postgres-storage-options.js';
import { Session } from './session.js';

const open = (url: string): Promise<Session> =>
  Session.open({ url, applicationName: 'test', connectTimeoutMs: 5_000, role: 'reader', observer: silentObserver });

/** Wakes the waiting thread once a connection has run its statement for longer than the thread's limit. */
const notifyWhenIdle = `
  const { parentPort, workerData: { url, pid, arrived } } = require('node:worker_threads');
  const pg = require('pg');
  const client = new pg.Client({ connectionString: url });
  const idle = \`select 1 from pg_stat_activity where pid = $1 and state = 'idle' and query like '%repeat%'
    and clock_timestamp() > state_change + interval '200 ms'\`;
  client.connect().then(() => parentPort.postMessage('connected'));
  parentPort.once('message', async () => {
    while ((await client.query(idle, [pid])).rowCount === 0);
    Atomics.store(arrived, 0, 1);
    Atomics.notify(arrived, 0);
    await client.end();
  });
`;

describe('Session', () => {
  let server: TestPostgres;
  let session: Session;
  before(async () => {
    server = await startTestPostgres();
    session = await open(server.adminUrl);
  });
  after(async () => {
    await session.close();
    await server.stop();
  });

  it('passes every value as text', async () => {
    const rows = await session.execute(
      'types',
      `select 9007199254740993::int8, '{"a":1.0}'::json, true, null, '{1}'::int[]`,
      5_000,
    );
    assert.deepEqual(rows, [['9007199254740993', '{"a":1.0}', 't', null, '{1}']]);
  });

  it('leaves no memory of large values behind', async () => {
    const value = 'x'.repeat(1_200_000);
    const statement = { name: 'echo', text: 'select $1::text' };
    const echo = async () => {
      const [row] = await session.run(statement, [value], 5_000);
      assert.equal(row?.[0]?.length, value.length);
    };
    await echo();
    const before = process.memoryUsage().arrayBuffers;
    for (let i = 0; i < 10; i++) await echo();
    const more = process.memoryUsage().arrayBuffers - before;
    assert.ok(more < 4 * value.length, `${more} bytes for ten values of ${value.length}`);
  });

  it('sends arrays in binary form', async () => {
    const words = ['', 'plain', 'q"u\\o{t},e', 'é漢😀', null, 'NULL', '\n'];
    const numbers = [0n, -1n, 9_223_372_036_854_775_807n, null];
    const statement = { name: 'arrays', text: 'select to_json($1::text[]), $2::int8[], $3::int2[]' };
    const [row] = await session.run(
      statement,
      [textArray(words), bigintArray(numbers), smallintArray([1, null, -2])],
      5_000,
    );
    assert.deepEqual(JSON.parse(row?.[0] ?? ''), words);
    assert.equal(row?.[1], '{0,-1,9223372036854775807,NULL}');
    assert.equal(row?.[2], '{1,NULL,-2}');
    const [empty] = await session.run(statement, [textArray([]), bigintArray([]), smallintArray([])], 5_000);
    assert.equal(empty?.[1], '{}');
  });

  it('prepares a statement once, and goes on after calls that fail', async () => {
    const own = await open(server.adminUrl);
    const statement = { name: 'ratio', text: 'select i, $1::text, $2::int8 / i from generate_series($3, $4::int) i' };
    const text = 'é漢😀'.repeat(10_000);
    for (let call = 0; call < 3; call++) {
      const rows = await own.run(statement, [text, 2n ** 62n, 1, 2], 5_000);
      assert.deepEqual(rows, [
        ['1', text, '4611686018427387904'],
        ['2', text, '2305843009213693952'],
      ]);
      assert.deepEqual(await own.run(statement, [null, 1, 2, 1], 5_000), []);
      const zero = own.run(statement, [null, 1, 0, 1], 5_000);
      await assert.rejects(zero, (error) => failureKind(error) === 'data');
      await assert.rejects(own.run(statement, [null, 'one', 1, 1], 5_000), (error) => failureKind(error) === 'data');
      const unknown = { name: 'unknown', text: 'select nothing' };
      await assert.rejects(own.run(unknown, [], 5_000), { code: '42703' });
      const both = [own.run(statement, [null, 8, 2, 2], 5_000), own.execute('plain', 'select 1; select 2', 5_000)];
      assert.deepEqual(await Promise.all(both), [[['2', null, '4']], []]);
    }
    const prepared = await own.execute('prepared', 'select name from pg_prepared_statements', 5_000);
    assert.deepEqual(prepared, [['ratio']]);
    await own.close();
  });

  it('ends a connection whose statement takes too long, also beside others', async () => {
    const own = await open(server.adminUrl);
    const sleep = { name: 'sleep', text: 'select pg_sleep($1)' };
    await own.run(sleep, [0], 60_000);
    await assert.rejects(own.run(sleep, [60], 50), (error) => failureKind(error) === 'lost');
    assert.equal(own.broken, true);
    await assert.rejects(own.run(sleep, [0], 5_000), (error) => failureKind(error) === 'lost');
  });

  it('survives an error, but not a timeout', async () => {
    const own = await open(server.adminUrl);
    let reported = 0;
    own.onBroken(() => {
      reported += 1;
    });
    await assert.rejects(own.execute('bad', 'select 1 / 0', 5_000), (error) => failureKind(error) === 'data');
    assert.deepEqual(await own.execute('good', 'select 1', 5_000), [['1']]);
    await assert.rejects(own.execute('slow', 'select pg_sleep(60)', 50), (error) => failureKind(error) === 'lost');
    assert.equal(own.broken, true);
    assert.equal(reported, 1);
    await own.close();
  });

  it('reads an answer that came in time while the process was held up', async () => {
    const own = await open(server.adminUrl);
    const arrived = new Int32Array(new SharedArrayBuffer(4));
    const worker = new Worker(notifyWhenIdle, {
      eval: true,
      workerData: { url: server.adminUrl, pid: own.backendPid, arrived },
    });
    await once(worker, 'message');
    const answer = own.execute('large', "select repeat('x', 300000)", 50);
    worker.postMessage('go');
    assert.notEqual(Atomics.wait(arrived, 0, 0, 30_000), 'timed-out');
    assert.equal((await answer)[0]?.[0]?.length, 300_000);
    assert.equal(own.broken, false);
    await own.close();
    await worker.terminate();
  });

  it('knows a lost connection from a refused statement', async () => {
    const own = await open(server.adminUrl);
    const lost = assert.rejects(
      own.execute('wait', 'select pg_sleep(60)', 10_000),
      (error) => failureKind(error) === 'lost',
    );
    await session.execute('kill', `select pg_terminate_backend(${own.backendPid})`, 5_000);
    await lost;
    await assert.rejects(
      session.execute('missing', 'select * from nowhere', 5_000),
      (error) => failureKind(error) === 'fatal',
    );
    await assert.rejects(open('postgres://127.0.0.1:1/none'), (error) => failureKind(error) === 'lost');
  });
});

describe('TLS parameters of a database URL', () => {
  let server: TestPostgres;
  let directory: string;
  let rightCa: string;
  let wrongCa: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'plinth-tls-'));
    const ca = await TestIdentity.root('Test CA');
    const other = await TestIdentity.root('Other CA');
    const names = [{ type: 'dns', value: 'localhost' }] as const;
    const leaf = await ca.issue({ subject: [{ CN: ['database'] }], usages: [serverAuth], names });
    rightCa = join(directory, 'ca.pem');
    wrongCa = join(directory, 'other.pem');
    await writeFile(rightCa, ca.cert);
    await writeFile(wrongCa, other.cert);
    server = await startTestPostgres({ tls: { certificate: leaf.cert, privateKey: leaf.key } });
  });
  after(async () => {
    await server.stop();
    await rm(directory, { recursive: true });
  });

  const encrypted = async (parameters: string, host = 'localhost'): Promise<boolean> => {
    const url = `${server.adminUrl.replace('127.0.0.1', host)}${parameters}`;
    const session = await open(url);
    try {
      const rows = await session.execute('ssl', 'select ssl from pg_stat_ssl where pid = pg_backend_pid()', 5_000);
      return rows[0]?.[0] === 't';
    } finally {
      await session.close();
    }
  };

  it('mean what they mean to libpq', async () => {
    assert.equal(await encrypted(''), true);
    assert.equal(await encrypted('?sslmode=disable'), false);
    assert.equal(await encrypted('?sslmode=prefer'), true);
    assert.equal(await encrypted('?sslmode=require'), true);
    assert.equal(await encrypted('?sslmode=no-verify'), true);
    assert.equal(await encrypted(`?sslmode=require&sslrootcert=${rightCa}`), true);
    assert.equal(await encrypted(`?sslmode=verify-ca&sslrootcert=${rightCa}`, '127.0.0.1'), true);
    assert.equal(await encrypted(`?sslmode=verify-full&sslrootcert=${rightCa}`), true);
  });

  it('refuse a server that is not the right one', async () => {
    await assert.rejects(encrypted('?sslmode=verify-full'));
    await assert.rejects(encrypted('?sslmode=verify-full&sslrootcert=system'));
    await assert.rejects(encrypted(`?sslmode=verify-full&sslrootcert=${wrongCa}`));
    await assert.rejects(encrypted(`?sslmode=verify-ca&sslrootcert=${wrongCa}`));
    await assert.rejects(encrypted(`?sslmode=require&sslrootcert=${wrongCa}`));
    await assert.rejects(encrypted(`?sslmode=verify-full&sslrootcert=${rightCa}`, '127.0.0.1'), /altnames|IP/);
    await assert.rejects(encrypted('?sslmode=nonsense'), /sslmode must be one of/);
  });

  it('fall back to the clear only for prefer and allow', async () => {
    const plain = await startTestPostgres();
    try {
      const connect = async (mode: string): Promise<void> => (await open(`${plain.adminUrl}?sslmode=${mode}`)).close();
      await connect('prefer');
      await connect('allow');
      await assert.rejects(connect('require'), /SSL/);
    } finally {
      await plain.stop();
    }
  });
});
