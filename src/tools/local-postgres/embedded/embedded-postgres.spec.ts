import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from '../../../../test/support/ports.js';
import { Logger } from '../../../base/observability/logger.js';
import { EmbeddedPostgres, type EmbeddedPostgresOptions } from './embedded-postgres.js';
import { isAlive, readPostmasterPid } from './postmaster.js';

const isRoot = process.getuid?.() === 0;

describe('embedded Postgres', { skip: process.platform === 'win32' }, () => {
  let root: string;
  let lines: string[];
  let options: EmbeddedPostgresOptions;
  const running: EmbeddedPostgres[] = [];

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'plinth-pg-'));
    if (isRoot) await chmod(root, 0o711);
    const directory = join(root, 'data');
    await mkdir(directory, { mode: isRoot ? 0o711 : 0o700 });
    lines = [];
    const logger = new Logger('debug', 'text', (line) => void lines.push(line));
    options = { directory, logger, fallbackRoot: join(root, 'fallback') };
  });
  afterEach(async () => {
    for (const postgres of running.splice(0)) await postgres.stop();
    await rm(root, { recursive: true, force: true });
  });

  async function start(changes: Partial<EmbeddedPostgresOptions> = {}) {
    const postgres = await EmbeddedPostgres.start({ ...options, ...changes });
    running.push(postgres);
    return postgres;
  }

  async function query(postgres: EmbeddedPostgres, sql: string): Promise<unknown[][]> {
    const client = new pg.Client({ connectionString: postgres.databaseUrl });
    await client.connect();
    try {
      return (await client.query({ text: sql, rowMode: 'array' })).rows as unknown[][];
    } finally {
      await client.end();
    }
  }

  const pidOf = (directory = join(options.directory, 'postgres')) => readPostmasterPid(directory);

  async function until(condition: () => Promise<boolean>): Promise<void> {
    // The only sign of another process's end is that it is gone.
    while (!(await condition())) await delay(10);
  }

  async function whoAmI(url: string): Promise<unknown> {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query({ text: 'select current_user', rowMode: 'array' })).rows;
    } finally {
      await client.end();
    }
  }

  async function notedPort(): Promise<number> {
    const note = await readFile(join(options.directory, 'postgres.json'), 'utf8');
    return (JSON.parse(note) as { port: number }).port;
  }

  it('lets other roles log in only with their password', { timeout: 60_000 }, async () => {
    const postgres = await start();
    await query(
      postgres,
      `create role alice login password 'right'; create role nameless login; alter role plinth password 'known'`,
    );
    const port = await notedPort();
    const loopback = (user: string) => `postgresql://${user}@127.0.0.1:${port}/plinth`;
    const socket = (user: string) => postgres.databaseUrl.replace('//plinth@', `//${user}@`);
    for (const on of [loopback, socket]) {
      assert.deepEqual(await whoAmI(on('alice:right')), [['alice']]);
      await assert.rejects(whoAmI(on('alice:wrong')), { code: '28P01' });
      await assert.rejects(whoAmI(on('nameless:guess')), { code: '28P01' });
    }
    assert.deepEqual(await whoAmI(socket('plinth')), [['plinth']]);
    await assert.rejects(whoAmI(loopback('plinth:known')), { code: '28000' });
    const rules = await query(postgres, 'select auth_method from pg_hba_file_rules where error is null');
    assert.deepEqual(rules.flat(), ['peer', 'scram-sha-256', 'reject', 'scram-sha-256']);
  });

  it('keeps its port on loopback, unless another process has it', { timeout: 120_000 }, async () => {
    const first = await start();
    const port = await notedPort();
    await first.stop();
    const second = await start();
    assert.deepEqual(await query(second, 'show port'), [[String(port)]]);
    await second.stop();
    const other = createServer().listen(port, '127.0.0.1');
    await once(other, 'listening');
    try {
      await assert.rejects(start({ port }), /already listens on 127\.0\.0\.1:\d+: .*--postgres-port/);
      const third = await start();
      assert.notEqual(await notedPort(), port);
      assert.deepEqual(await query(third, 'show port'), [[String(await notedPort())]]);
      assert.ok(lines.some((line) => line.includes('it gets another one')));
      await third.stop();
    } finally {
      other.close();
    }
    const asked = await freePort();
    const fourth = await start({ port: asked });
    assert.deepEqual(await query(fourth, 'show port'), [[String(asked)]]);
    await fourth.stop();
    const quiet = await start({ port: 0 });
    assert.deepEqual(await query(quiet, 'show listen_addresses'), [['']]);
  });

  it('stops in time when Postgres does not react', { timeout: 60_000 }, async () => {
    const first = await start({ stopPatienceMs: 200 });
    const pid = await pidOf();
    assert.ok(pid !== undefined);
    process.kill(pid, 'SIGSTOP');
    const began = performance.now();
    await first.stop();
    assert.ok(performance.now() - began < 20_000);
    const second = await start();
    assert.deepEqual(await query(second, "select 'again'"), [['again']]);
  });

  it('keeps data between starts, is durable, and stops', { timeout: 60_000 }, async () => {
    const first = await start();
    assert.deepEqual(await query(first, 'show fsync'), [['on']]);
    assert.deepEqual(await query(first, 'show synchronous_commit'), [['on']]);
    assert.deepEqual(await query(first, 'show listen_addresses'), [['127.0.0.1']]);
    assert.deepEqual(await query(first, 'show server_encoding'), [['UTF8']]);
    assert.deepEqual(await query(first, "select datcollate from pg_database where datname = 'plinth'"), [['C']]);
    await query(first, 'create table kept as select 7 as n');
    const pid = await pidOf();
    await first.stop();
    assert.ok(pid !== undefined && !isAlive(pid));
    const second = await start();
    assert.deepEqual(await query(second, 'select n from kept'), [[7]]);
  });

  it('lets nobody else in', { timeout: 60_000, skip: !isRoot && 'needs root to be somebody else' }, async () => {
    const postgres = await start();
    const socket = new URL(postgres.databaseUrl).searchParams.get('host') ?? '';
    assert.equal((await stat(socket)).mode & 0o777, 0o700);
    // Access to the folder is not enough: the role belongs to the mapped system user.
    const { uid } = await stat(socket);
    process.seteuid?.(uid);
    try {
      await assert.rejects(query(postgres, 'select 1'), { code: '28000' });
    } finally {
      process.seteuid?.(0);
    }
    await query(postgres, 'select 1');
  });

  it('starts again when it dies', { timeout: 60_000 }, async () => {
    const postgres = await start();
    await query(postgres, 'create table kept as select 8 as n');
    const pid = await pidOf();
    assert.ok(pid !== undefined);
    process.kill(pid, 'SIGKILL');
    await until(async () => lines.some((line) => line.includes('is running again')));
    assert.notEqual(await pidOf(), pid);
    assert.deepEqual(await query(postgres, 'select n from kept'), [[8]]);
  });

  it('ends with its killed parent, and the next start finds the data', { timeout: 60_000 }, async () => {
    const { child, pid } = await startInChild();
    child.kill('SIGKILL');
    await once(child, 'exit');
    await until(async () => (await pidOf()) === undefined);
    await until(async () => !isAlive(pid));
    await query(await start(), 'select 1');
  });

  it('ends a Postgres left from before, then starts', {
    timeout: 60_000,
    skip: process.platform !== 'linux',
  }, async () => {
    const { child, pid } = await startInChild();
    // The supervisor and its watch are killed first, so nothing signals Postgres to stop.
    const supervisor = Number((await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ')[1]);
    const siblings = (await readFile(`/proc/${supervisor}/task/${supervisor}/children`, 'utf8'))
      .trim()
      .split(' ')
      .map(Number);
    for (const watch of siblings.filter((sibling) => sibling !== pid)) process.kill(watch, 'SIGKILL');
    process.kill(supervisor, 'SIGKILL');
    child.kill('SIGKILL');
    await once(child, 'exit');
    assert.equal(await pidOf(), pid);
    await query(await start(), 'select 1');
    assert.ok(lines.some((line) => line.includes('left behind')));
    assert.notEqual(await pidOf(), pid);
  });

  it('uses another folder when its user cannot reach the chosen one', {
    timeout: 90_000,
    skip: !isRoot && 'needs root',
  }, async () => {
    const hidden = join(root, 'hidden');
    const directory = join(hidden, 'project', '.plinth');
    await mkdir(directory, { recursive: true });
    await chmod(hidden, 0o700);
    const first = await start({ directory });
    await query(first, 'create table kept as select 9 as n');
    await first.stop();
    const note = JSON.parse(await readFile(join(directory, 'postgres.json'), 'utf8')) as { directory: string };
    assert.equal(note.directory.startsWith(join(root, 'fallback')), true);
    assert.deepEqual(await readdir(directory), ['postgres.json']);
    const second = await start({ directory });
    assert.deepEqual(await query(second, 'select n from kept'), [[9]]);
    await second.stop();
    // A user who deletes the folder starts with an empty database; the old data stay next to the new ones.
    await rm(join(directory, 'postgres.json'));
    const third = await start({ directory });
    assert.deepEqual(await query(third, "select to_regclass('kept')"), [[null]]);
    assert.equal((await readdir(note.directory)).filter((name) => name.startsWith('postgres.left-')).length, 1);
  });

  it('makes its own library links when the package has none', { timeout: 90_000 }, async () => {
    const { binariesIn, copyBinaries, locateBinaries } = await import('./binaries.js');
    const bare = join(root, 'package', 'native');
    await copyBinaries(locateBinaries(), bare);
    for (const { target } of JSON.parse(await readFile(join(bare, 'pg-symlinks.json'), 'utf8')) as {
      target: string;
    }[]) {
      await rm(join(root, 'package', target));
    }
    await query(await start({ binaries: binariesIn(bare) }), 'select 1');
  });

  it('says why it cannot start', { timeout: 60_000 }, async () => {
    await mkdir(join(options.directory, 'postgres'));
    await writeFile(join(options.directory, 'postgres', 'notes.txt'), 'mine');
    await assert.rejects(start(), /neither empty nor a Postgres database/);
    await rm(join(options.directory, 'postgres'), { recursive: true });
    await (await start()).stop();
    await writeFile(join(options.directory, 'postgres', 'postgresql.auto.conf'), 'no_such_setting = 1\n');
    await assert.rejects(start(), /did not start:.*no_such_setting/);
    await writeFile(join(options.directory, 'postgres', 'PG_VERSION'), '12\n');
    await assert.rejects(start(), /made by Postgres 12 and this is Postgres \d+/);
  });

  /** Starts it in a process of its own, to be killed. */
  async function startInChild() {
    const href = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
    const script = `const { EmbeddedPostgres } = await import(${href('./embedded-postgres.js')});
      const { Logger } = await import(${href('../../../base/observability/logger.js')});
      await EmbeddedPostgres.start({ directory: ${JSON.stringify(options.directory)}, logger: new Logger() });
      console.log('up'); setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    const pid = await pidOf();
    assert.ok(pid !== undefined);
    return { child, pid };
  }
});
