import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, beforeEach, describe, it } from 'node:test';
import pg from 'pg';
import { eventually } from '../../../test/e2e/support/test-cluster.js';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import { onlyViews } from '../../base/config/sql-projection.js';
import { Logger } from '../../base/observability/logger.js';
import { syncSqlViews } from '../../storage/postgres/sql-views.js';
import { boundReaders } from './bound-readers.js';
import { type RunningConsole, startConsole } from './console-server.js';
import { keepSessionsApart } from './sessions-apart.js';
import { SqlBusy } from './sql-busy.js';
import { SqlError } from './sql-error.js';
import { SqlReader } from './sql-reader.js';
import { SqlRoleError } from './sql-role-error.js';
import { RecordingServer } from './testing/recording-server.js';
import { Upstream } from './upstream.js';

describe('questions in SQL', () => {
  let postgres: TestPostgres;
  let ownerUrl: string;
  let url: string;
  let owner: pg.Client;
  let reader: SqlReader;
  const as = (role: string) => ownerUrl.replace('postgres@', `${role}@`);

  before(async () => {
    postgres = await startTestPostgres();
    ownerUrl = await postgres.createTestDatabase();
    owner = new pg.Client({ connectionString: ownerUrl });
    await owner.connect();
    await owner.query('create role asker login; grant create on schema public to asker; set role asker');
    await owner.query('create table kept (id int); insert into kept values (1); create sequence numbers; reset role');
    url = as('asker');
    // The role may write, so that only the console can stop it.
    reader = new SqlReader(url, { timeoutMs: 30_000, rows: 250 });
  });
  after(async () => {
    await owner?.end();
    await postgres?.stop();
  });

  it('are answered with texts as the database writes them', async () => {
    const { columns, rows, isCut } = await reader.ask(
      'alice',
      `select 9007199254740993 as big, null as none, '{"a": 1.10}'::jsonb as json, 'a' as a, 'b' as a; -- the end`,
    );
    assert.deepEqual(columns, ['big', 'none', 'json', 'a', 'a']);
    assert.deepEqual(rows, [['9007199254740993', null, '{"a": 1.10}', 'a', 'b']]);
    assert.equal(isCut, false);
    assert.deepEqual(
      (await reader.ask('alice', { text: 'select $1 || $2 as x', values: [`'; drop table kept --`, '"'] })).rows,
      [[`'; drop table kept --"`]],
    );
    assert.deepEqual(
      await reader.ask('alice', 'select 1 where false').then((answer) => [answer.columns.length, answer.rows]),
      [1, []],
    );
  });

  it('change nothing, however they are put', async () => {
    const attacks = [
      'delete from kept',
      'drop table kept',
      'commit; drop table kept',
      'select 1; drop table kept',
      'select 1; commit; delete from kept',
      'select 1\n;\ndelete from kept',
      'with gone as (delete from kept returning id) select * from gone',
      'select 1 into other',
      `select nextval('numbers')`,
      'select * from kept for update',
      `copy kept to program 'touch /tmp/hacked'`,
      'set transaction read write',
      `do $$ begin delete from kept; end $$`,
      'select 1) ; delete from kept; --',
      '/* */ rollback; begin; delete from kept; commit; select 1',
      'execute something',
      'fetch all from question',
      `select set_config('transaction_read_only', 'off', false), nextval('numbers')`,
    ];
    for (const attack of attacks) {
      await assert.rejects(reader.ask('alice', attack), SqlError, attack);
    }
    assert.deepEqual((await owner.query('select id from kept')).rows, [{ id: 1 }]);
    assert.deepEqual((await owner.query('select is_called from numbers')).rows, [{ is_called: false }]);
    assert.deepEqual((await owner.query(`select to_regclass('other') as other`)).rows, [{ other: null }]);
  });

  it('leave no settings to the next', async () => {
    await reader.ask(
      'alice',
      `select set_config('statement_timeout', '0', false), set_config('search_path', 'nowhere', false)`,
    );
    assert.deepEqual((await reader.ask('alice', 'select id from kept')).rows, [['1']]);
    assert.deepEqual((await reader.ask('alice', `select current_setting('statement_timeout')`)).rows, [['30s']]);
  });

  it('need not name the schema of the views', async () => {
    await owner.query('create view cluster.seventh as select 7 as number');
    await owner.query('grant usage on schema cluster to asker; grant select on cluster.seventh to asker');
    try {
      assert.deepEqual((await reader.ask('alice', 'select * from seventh')).rows, [['7']]);
    } finally {
      await owner.query('drop view cluster.seventh; revoke usage on schema cluster from asker');
    }
  });

  it('have a plan with the times of its steps, and run nothing else for it', async () => {
    const plan = async (text: string) => {
      const { rows, isPlan } = await reader.ask('alice', { text, isPlan: true });
      assert.equal(isPlan, true);
      return rows.flat().join('\n');
    };
    assert.match(await plan('select id from kept;'), /Seq Scan on kept.*actual time=.*Execution Time: /s);
    assert.match(await plan('select 1 -- a comment'), /Result/);
    for (const attack of [
      'insert into kept values (2)',
      '(verbose) select 1',
      'analyze select 1',
      'select 1; select 2',
    ]) {
      await assert.rejects(plan(attack), SqlError, attack);
    }
    assert.deepEqual((await reader.ask('alice', 'select id from kept')).rows, [['1']]);
  });

  it('have limits of time, rows, size and number', async () => {
    const hasty = new SqlReader(url, { timeoutMs: 200, rows: 1 });
    // The database ends the query, unless it is so slow that the console ends it first.
    await assert.rejects(hasty.ask('alice', 'select pg_sleep(60)'), /timeout|the time for one question is over/);
    const many = await reader.ask('alice', 'select generate_series(1, 1000000000) as i');
    assert.deepEqual([many.rows.length, many.isCut, many.rows.at(-1)], [250, true, ['250']]);
    const large = await reader.ask('alice', `select repeat('x', 200000) from generate_series(1, 100)`);
    assert.ok(large.isCut && large.rows.length <= 42);
    await assert.rejects(reader.ask('alice', `select repeat('x', 35000000)`), /more than \d+ bytes/);
  });

  it('of one user wait behind their own, not before those of others', async () => {
    const gone = new AbortController();
    const asked = Array.from({ length: 12 }, () =>
      reader.ask('mallory', 'select pg_sleep(600)', gone.signal).catch((error: unknown) => error),
    );
    const running = `select from pg_stat_activity where application_name = 'plinth-console' and wait_event = 'PgSleep'`;
    await eventually(async () => (await owner.query(running)).rowCount === 2, 'two questions');
    assert.deepEqual((await reader.ask('alice', 'select 1')).rows, [['1']]);
    gone.abort();
    const outcomes = await Promise.all(asked);
    assert.deepEqual(
      [SqlBusy, SqlError].map((kind) => outcomes.filter((outcome) => outcome instanceof kind).length),
      [2, 10],
    );
    await eventually(async () => (await owner.query(running)).rowCount === 0, 'the end of all');
  });

  it('leave no work behind when the time is over, or whoever asked has gone', async () => {
    const left = async () =>
      (await owner.query(`select from pg_stat_activity where application_name = 'plinth-console'`)).rowCount;
    // The query removes the time limit of the database, so that only the console's limit is left.
    const endless = `select set_config('statement_timeout', '0', false), case when i > 200 then pg_sleep(600) end
      from generate_series(1, 300) i`;
    // Long enough for the query to begin before the limit of the database is over.
    const hasty = new SqlReader(url, { timeoutMs: 2_000, rows: 1000 });
    await assert.rejects(hasty.ask('alice', endless), /the time for one question is over/);
    await eventually(async () => (await left()) === 0, 'the end of what took too long');
    const gone = new AbortController();
    const asked = assert.rejects(reader.ask('alice', 'select pg_sleep(600)', gone.signal), SqlError);
    await eventually(async () => (await left()) === 1, 'the question');
    gone.abort();
    await asked;
    await eventually(async () => (await left()) === 0, 'the end of a question of somebody who left');
  });

  it('are refused as a role that may do more than read the views', async () => {
    await syncSqlViews(ownerUrl, [], onlyViews);
    await owner.query(`
      create role reader login; grant plinth_reader to reader;
      create role admin_by_set login noinherit; grant postgres to admin_by_set;
      create role all_data login; grant pg_read_all_data to all_data;
      create role all_files login; grant pg_read_server_files to all_files;
      create role all_programs login; grant pg_execute_server_program to all_programs;
      create role objects_too login; grant plinth_reader to objects_too;
      grant usage on schema plinth to objects_too; grant select (data) on plinth.objects to objects_too`);
    for (const role of ['postgres', 'admin_by_set', 'all_data', 'all_files', 'all_programs', 'objects_too']) {
      const more = new SqlReader(as(role), { timeoutMs: 10_000, rows: 1 });
      await assert.rejects(more.check(), SqlRoleError, role);
      await assert.rejects(more.ask('alice', 'select 1'), SqlError, role);
    }
    const less = new SqlReader(as('reader'), { timeoutMs: 10_000, rows: 1 });
    await less.check();
    assert.deepEqual((await less.ask('alice', 'select count(*) from cluster.lag()')).rows, [['0']]);
  });

  it('of others can be neither ended nor read, once a superuser has kept the sessions apart', async () => {
    const meddling = [
      (pid: string) => `select pg_cancel_backend(${pid})`,
      (pid: string) => `select pg_terminate_backend(${pid})`,
      (pid: string) => `select query_to_xml('select pg_' || 'terminate_backend(${pid})', true, true, '')`,
      (pid: string) => `select query from pg_stat_activity where pid = ${pid}`,
      (pid: string) => `select query from pg_stat_get_activity(${pid})`,
      () => 'select pg_stat_get_backend_activity(b) from pg_stat_get_backend_idset() b',
    ];
    const other = new pg.Client({ connectionString: url });
    other.on('error', () => {});
    await other.connect();
    try {
      assert.equal((await reader.check()).canMeddle, true);
      const { rows } = await other.query<{ pid: number }>(`select pg_backend_pid() as pid, 'told to nobody' as secret`);
      const pid = String(rows[0]?.pid);
      const read = await reader.ask('mallory', meddling[3]?.(pid) ?? '');
      assert.match(String(read.rows), /told to nobody/, 'what PostgreSQL lets everybody do');
      await keepSessionsApart(owner);
      assert.equal((await reader.check()).canMeddle, false);
      for (const attack of meddling) {
        await assert.rejects(reader.ask('mallory', attack(pid)), /permission denied for function/, attack(pid));
      }
      assert.equal((await other.query('select 1')).rowCount, 1, 'the session lives');
      await owner.query('create role watcher login; grant pg_signal_backend, pg_monitor, asker to watcher');
      const watcher = new pg.Client({ connectionString: as('watcher') });
      await watcher.connect();
      try {
        assert.equal((await watcher.query('select from pg_stat_activity where pid = $1', [pid])).rowCount, 1);
        assert.equal((await watcher.query('select pg_cancel_backend($1)', [pid])).rowCount, 1);
      } finally {
        await watcher.end();
      }
    } finally {
      await other.end();
    }
  });

  it('take neither the locks nor the disk of others, once a superuser has bounded the role', async () => {
    const locks = [
      'select count(pg_advisory_lock(g)) from generate_series(1, 9) g',
      'select pg_try_advisory_xact_lock_shared(1, 2)',
      // Written to the log although the transaction is read-only and never ends well.
      `select pg_logical_emit_message(false, 'a', repeat('x', 1000))`,
      `select pg_logical_emit_message(false, 'a', 'x'::bytea)`,
    ];
    for (const attack of locks) await reader.ask('mallory', attack);
    await boundReaders(owner, 'asker');
    for (const attack of locks) {
      await assert.rejects(reader.ask('mallory', attack), /permission denied for function/, attack);
    }
    const limit = `select current_setting('temp_file_limit')`;
    assert.deepEqual((await reader.ask('alice', limit)).rows, [['1GB']]);
    const raised = `select set_config('temp_file_limit', '-1', false)`;
    await assert.rejects(reader.ask('mallory', raised), /permission denied to set parameter/);
  });

  it('say what the database says', async () => {
    await assert.rejects(reader.ask('alice', 'select nothing'), /column "nothing" does not exist/);
    const nowhere = new SqlReader('postgresql://u:secret-word@127.0.0.1:1/x', { timeoutMs: 1000, rows: 1 });
    await assert.rejects(nowhere.ask('alice', 'select 1'), (error: Error) => !error.message.includes('secret-word'));
  });

  describe('in the console', () => {
    let api: RecordingServer;
    let running: RunningConsole;
    let keys: Record<string, string>;
    let allowed: boolean | undefined;
    let origin: string;

    before(async () => {
      api = await RecordingServer.start();
      const tls = {
        ca: api.authority.cert,
        cert: undefined,
        key: undefined,
        serverName: undefined,
        insecureSkipVerify: false,
      };
      running = await startConsole([new Upstream({ server: api.url, tls, files: {} })], {
        bindAddress: '127.0.0.1',
        port: 0,
        origins: [],
        sessionMs: 60_000,
        logger: new Logger('error'),
        sql: { url, timeoutMs: 30_000, rows: 10 },
      });
      origin = running.url.slice(0, -1);
      const groups = [{ name: 'authentication.example.io' }, { name: 'authorization.example.io' }];
      api.answers.set('/apis', (response) => response.end(JSON.stringify({ groups })));
      api.answers.set('/apis/authorization.example.io/v1/selfsubjectaccessreviews', (response) => {
        if (allowed === undefined) response.writeHead(500);
        response.end(JSON.stringify({ status: { allowed } }));
      });
      const answer = await post('/console/login', { login: 'token-of-alice' }, { origin });
      const [cookie = ''] = answer.headers.get('set-cookie')?.split(';') ?? [];
      keys = { origin, cookie, 'x-plinth-console': ((await answer.json()) as { key: string }).key };
    });
    after(async () => {
      await running?.stop();
      api?.stop();
    });
    beforeEach(() => {
      allowed = true;
    });

    const post = (path: string, body: object, headers: Record<string, string>) =>
      fetch(`${origin}${path}`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });

    it('are for those whose role may, as the server says each time', async () => {
      api.forget();
      const answer = await post('/console/sql', { sql: 'select id from kept' }, keys);
      assert.deepEqual(((await answer.json()) as { rows: unknown }).rows, [['1']]);
      const review = api.arrived.find(({ method }) => method === 'POST');
      assert.deepEqual((JSON.parse(review?.body ?? '{}') as { spec: unknown }).spec, {
        nonResourceAttributes: { path: '/sql', verb: 'get' },
      });
      assert.equal(review?.headers.authorization, 'Bearer token-of-alice');
      for (const outcome of [false, undefined]) {
        allowed = outcome;
        for (const [path, body] of [
          ['/console/sql', { sql: 'select 1' }],
          ['/console/timeline', { resource: 'pods', namespace: 'a', name: 'b' }],
        ] as const) {
          assert.equal((await post(path, body, keys)).status, 403);
        }
        const shown = await fetch(`${origin}/console/session`, { headers: keys });
        assert.equal(((await shown.json()) as { sql: boolean }).sql, false);
      }
    });

    it('end the session where the API server no longer accepts the credentials', async () => {
      const own = await post('/console/login', { login: 'token-of-bob' }, { origin });
      const [cookie = ''] = own.headers.get('set-cookie')?.split(';') ?? [];
      const bob = { origin, cookie, 'x-plinth-console': ((await own.json()) as { key: string }).key };
      const reviews = '/apis/authorization.example.io/v1/selfsubjectaccessreviews';
      const usual = ['/apis', reviews].map((path) => [path, api.answers.get(path)] as const);
      for (const [path] of usual) api.answers.set(path, (response) => void response.writeHead(401).end('{}'));
      try {
        const refused = await post('/console/sql', { sql: 'select 1' }, bob);
        assert.deepEqual([refused.status, refused.headers.get('x-plinth-session')], [401, 'none']);
      } finally {
        for (const [path, answer] of usual) api.answers.set(path, answer as (response: ServerResponse) => void);
      }
      assert.equal((await fetch(`${origin}/console/session`, { headers: bob })).status, 401);
    });

    it('count no longer than their client stays, also one that leaves before the server says that it may', async () => {
      const reviews = '/apis/authorization.example.io/v1/selfsubjectaccessreviews';
      const usual = api.answers.get(reviews) as (response: ServerResponse) => void;
      try {
        for (let n = 0; n < 13; n++) {
          const leaving = new AbortController();
          const arrived = new Promise<ServerResponse>((resolve) => api.answers.set(reviews, resolve));
          const asked = fetch(`${origin}/console/sql`, {
            method: 'POST',
            headers: { ...keys, 'content-type': 'application/json' },
            body: JSON.stringify({ sql: 'select 1' }),
            signal: leaving.signal,
          });
          const review = await Promise.race([arrived, asked.then(({ status }) => status)]);
          if (typeof review === 'number') assert.fail(`${review} after ${n} others`);
          leaving.abort();
          await assert.rejects(asked);
          // A later request of the console means that it has noticed.
          api.answers.set(reviews, usual);
          assert.equal((await fetch(`${origin}/console/session`, { headers: keys })).status, 200);
          usual(review);
        }
      } finally {
        api.answers.set(reviews, usual);
      }
      assert.equal((await post('/console/sql', { sql: 'select 1' }, keys)).status, 200);
    });

    it('have answers that hold up nothing else', async () => {
      const answer = await post('/console/sql', { sql: `select repeat(chr(1) || '"é😀', 1000000)` }, keys);
      const { rows } = (await answer.json()) as { rows: string[][] };
      assert.ok(rows[0]?.[0] === '\u0001"é😀'.repeat(1_000_000));
    });

    it('need a session, and a text', async () => {
      const { 'x-plinth-console': _, ...half } = keys;
      assert.equal((await post('/console/sql', { sql: 'select 1' }, half)).status, 401);
      assert.equal((await post('/console/sql', { sql: ['select 1'] }, keys)).status, 400);
      assert.equal((await post('/console/timeline', { resource: {}, namespace: '', name: 'x' }, keys)).status, 400);
      assert.equal((await post('/console/sql', { sql: 'select nothing' }, keys)).status, 422);
      assert.equal((await post('/console/sql', { sql: `select '${'x'.repeat(70_000)}'` }, keys)).status, 413);
    });
  });
});
